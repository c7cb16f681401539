#!/usr/bin/env bash
# Builds what test/gpu/check.sh runs and puts it into build/gpu: one folder that a machine with a graphics driver and nothing else
# can run. HEARTH_GLSL_MATRIX names a shader compiler with cooperative matrices where the system's is too old for them.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=build/gpu
options=(-DCMAKE_BUILD_TYPE=Release -DHEARTH_VULKAN=AUTO -DHEARTH_TESTS=ON)
[ -z "${HEARTH_GLSL_MATRIX:-}" ] || options+=("-DHEARTH_GLSL_MATRIX=$HEARTH_GLSL_MATRIX")
command -v ninja >/dev/null && options+=(-G Ninja)
cmake -S native -B build/native "${options[@]}" | grep -i vulkan
programs=(hearth_gpu vulkan_plan_test vulkan_ops_test vk_self_test_test)
cmake --build build/native --parallel "$(nproc)" --target "${programs[@]}"
rm -rf "$folder" && mkdir -p "$folder/lib"
for program in "${programs[@]}"; do strip -o "$folder/$program" "build/native/$program"; done
cp test/gpu/check.sh "$folder/"
# The loader, for machines whose driver came without one; it is looked at last.
loader=$(ldconfig -p | awk '/libvulkan\.so\.1 .*x86-64/ && !found++ { print $NF }')  # read to its end: a cut pipe is a failure
[ -z "$loader" ] || cp -L "$loader" "$folder/lib/libvulkan.so.1"
kilobytes=$(du -sk "$folder" | cut -f1)
echo "$folder: $((kilobytes / 1024)) MiB"
[ "$kilobytes" -lt $((50 * 1024)) ] || { echo 'It shall stay below 50 MiB.'; exit 1; }

#!/usr/bin/env bash
# check.sh [RESULTS] [SHAPES]: what a graphics device does with Hearth's kernels and with models of gpt-oss's shapes, out of the folder that
# pack.sh made, in under 8 minutes. Each stage has its time and its file in RESULTS; a stage that fails does not stop the next.
# SHAPES: 20b 120b, or small for a device of software. HEARTH_GPU: an id, else the best device.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
results=${1:-gpu-results} shapes=${2:-20b 120b}
mkdir -p "$results"
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$(ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || echo "$here/lib")"
export HEARTH_VULKAN_CACHE=${HEARTH_VULKAN_CACHE:-$results/cache}
failed=()

stage() {  # name seconds command...
  local name=$1 seconds=$2 begin=$SECONDS
  shift 2
  echo "■ $name (at most $seconds s)"
  timeout --kill-after=5 "$seconds" "$@" >"$results/$name.log" 2>&1 || failed+=("$name: $(tail -n 1 "$results/$name.log")")
  echo "  $((SECONDS - begin)) s"
}

device=(--device "${HEARTH_GPU:-vulkan}")
stage loader 30 "$here/hearth_gpu" "${device[@]}" --shapes none --out "$results/loader.jsonl"
cat "$results/loader.log"
stage decisions 10 "$here/vulkan_plan_test"
stage kernels 100 "$here/vulkan_ops_test" "--gtest_output=json:$results/kernels.json"
stage self-test 30 "$here/vk_self_test_test" "--gtest_output=json:$results/self-test.json"
for shape in $shapes; do
  stage "$shape" 140 "$here/hearth_gpu" "${device[@]}" --shapes "$shape" --out "$results/$shape.jsonl"
  cat "$results/$shape.log"
done
grep -hE '^\[  (PASSED|FAILED|SKIPPED) ' "$results"/{decisions,kernels,self-test}.log
[ ${#failed[@]} -eq 0 ] || { printf 'Failed: %s\n' "${failed[@]}"; exit 1; }

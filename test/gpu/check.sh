#!/usr/bin/env bash
# check.sh [RESULTS] [SHAPES]: what a graphics device does with Hearth's kernels and with models of gpt-oss's shapes, out of the folder that
# pack.sh made, in under 8 minutes. Each stage has its time, its files in RESULTS and, when it ends, its line in RESULTS/stages.jsonl; one that
# fails does not stop the next. SHAPES: 20b 120b, or small; where all devices are software, small alone. HEARTH_GPU: an id, else the best device.
# HEARTH_GPU_SHORT: without the kernels' tests, and each figure in a second.
set -uo pipefail  # so nothing may leave a pipe early: `grep -q` would
here=$(cd "$(dirname "$0")" && pwd)
results=${1:-gpu-results} shapes=${2:-}
mkdir -p "$results" && results=$(cd "$results" && pwd) && rm -f "$results"/*.{log,json,jsonl}
export PATH=$PATH:/usr/sbin:/sbin HEARTH_VULKAN_CACHE=${HEARTH_VULKAN_CACHE:-$results/cache}
# The carried loader is for machines without one.
ldconfig -p 2>/dev/null | grep 'libvulkan\.so\.1' >/dev/null || export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$here/lib
failed=() begin_all=$SECONDS

# Of a test's log, such as "12 passed, 3 skipped".
counts() { sed -nE 's/^\[  (PASSED|SKIPPED|FAILED)  ?\] ([0-9]+) tests?.*/\2 \L\1/p' "$1" | paste -sd, | sed 's/,/, /g'; }

stage() {  # name seconds command...
  local name=$1 limit=$2 begin=$SECONDS code result log=$results/$1.log
  shift 2
  echo "■ $name (at most $limit s)"
  timeout --kill-after=5 "$limit" "$@" >"$log" 2>&1
  code=$?
  case $code in
    0) result=$(counts "$log") ;;
    3) result='does not fit into its memory' ;;
    124 | 137) result="not done after $limit s" ;;
    *) result="failed ($code): $(counts "$log") $(grep -v '^\[\|^$' "$log" | tail -n 1 | tr -d '"\\' | tr '\t' ' ')" ;;
  esac
  [ $code -eq 0 ] || [ $code -eq 3 ] || failed+=("$name")
  printf '{"stage":"%s","seconds":%d,"code":%d,"result":"%s"}\n' "$name" $((SECONDS - begin)) $code "${result:-done}" >>"$results/stages.jsonl"
  printf '%-10s %8d  %s\n' "$name" $((SECONDS - begin)) "${result:-done}" >>"$results/table.log"
}

device=(--device "${HEARTH_GPU:-vulkan}")
printf '%-10s %8s\n' stage seconds >"$results/table.log"
stage loader 30 "$here/hearth_gpu" "${device[@]}" --shapes none --out "$results/loader.jsonl"
cat "$results/loader.log"
grep -q '"stage":"device"' "$results/loader.jsonl" || { echo 'There is no graphics device.'; exit 1; }

kernels_s=100
if ! grep '"stage":"device"' "$results/loader.jsonl" | grep -v '"type":"cpu"' >/dev/null; then
  echo 'There is software for Vulkan only: small shapes, and the tests that stand for all. Its speeds say nothing.'
  export HEARTH_VULKAN_SOFTWARE=1
  kernels_s=240 shapes=${shapes:-small}
fi

stage decisions 10 "$here/vulkan_plan_test"
if [ -z "${HEARTH_GPU_SHORT:-}" ]; then
  stage kernels $kernels_s "$here/vulkan_ops_test" "--gtest_output=json:$results/kernels.json"
  stage self-test 60 "$here/vk_self_test_test" "--gtest_output=json:$results/self-test.json"
else
  device+=(--seconds 1)
fi
for shape in ${shapes:-20b 120b}; do
  stage "$shape" 120 "$here/hearth_gpu" "${device[@]}" --shapes "$shape" --out "$results/$shape.jsonl"
  grep '^{' "$results/$shape.log"
done

echo
cat "$results/table.log"
echo
for shape in ${shapes:-20b 120b}; do grep -hE "^(shape|$shape)\b" "$results/$shape.log"; done | awk '!seen[$0]++'
echo "$((SECONDS - begin_all)) s in all."
[ ${#failed[@]} -eq 0 ] || { printf 'Failed: %s\n' "${failed[*]}"; exit 1; }

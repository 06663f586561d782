#!/usr/bin/env bash
# Everything that needs an NVIDIA GPU, in one command of at most 8 minutes: builds for the device
# that is there, judges all cases on it, runs a few under compute-sanitizer, and measures.
# What failed does not stop what follows; the status is 1 if anything did, 77 if there is no device.
set -euo pipefail

readonly time_limit=480 failed=1 wrong_usage=2 skipped=77

usage() {
  cat <<'USAGE'
usage: tests/gpu/run.sh [--build FOLDER] [OUTPUT_FOLDER]

--build        use the programs of this build of preset cuda, as they are, instead of building
OUTPUT_FOLDER  gets results.json, the reports and a log of each step (build/gpu/results)
USAGE
}

build=""
output=""
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --build) build=$(realpath "${2:?--build needs a folder}"); shift ;;
    -*) usage >&2; exit $wrong_usage ;;
    *) output=$(realpath -m "$1") ;;
  esac
  shift
done
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
output=${output:-$PWD/build/gpu/results}

skip_all() {
  echo "tests/gpu/run.sh: skipped: $*" >&2
  exit $skipped
}

command -v nvidia-smi >/dev/null || skip_all "there is no nvidia-smi, so no NVIDIA driver"
device=$(nvidia-smi --id=0 --query-gpu=name --format=csv,noheader 2>&1) ||
  skip_all "nvidia-smi finds no device: $device"
PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer

mkdir -p "$output"
rm -f "$output"/{results,attention,sdpa}.json "$output"/cases.jsonl "$output"/{attention,cases,sdpa}.log
declare -a records=()
num_failed=0

# Keeps what a step came to: its name, ok, failed or skipped, how long it took, and why.
record() {
  local name=$1 outcome=$2 seconds=$3 why=${4//[\"\\$'\t\r\n']/ }
  records+=("{\"step\": \"$name\", \"outcome\": \"$outcome\", \"seconds\": $seconds, \"why\": \"$why\"}")
  printf '%-36s %-8s %4s s  %s\n' "$name" "$outcome" "$seconds" "$why"
  [[ $outcome != failed ]] || num_failed=$((num_failed + 1))
}

# step NAME SECONDS COMMAND...: runs it within its time and the script's; its output is in a log.
step() {
  local name=$1 limit=$2 start=$SECONDS log status=0
  log=$output/${name// /-}.log
  shift 2
  if ((SECONDS + 5 > time_limit)); then
    record "$name" failed 0 "left out: $time_limit s are over"
    return
  fi
  ((SECONDS + limit <= time_limit)) || limit=$((time_limit - SECONDS))
  timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null || status=$?
  case $status in
    0) record "$name" ok $((SECONDS - start)) "" ;;
    "$skipped") record "$name" skipped $((SECONDS - start)) "$(tail -n 1 "$log")" ;;
    124 | 137) record "$name" failed $((SECONDS - start)) "stopped after $limit s" ;;
    *)
      if grep -q "Device not supported" "$log"; then  # compute-sanitizer, under some hypervisors
        record "$name" skipped $((SECONDS - start)) "it says: Device not supported"
      else
        record "$name" failed $((SECONDS - start)) "status $status: $(tail -n 1 "$log")"
      fi
      ;;
  esac
}

# A small call of each kind: split or not, paged or not, every term of the mask and of the logits.
readonly -a small_cases=(numeric-{alibi-windowed,gqa,mm-prefix,paged,softcap,varlen-windowed}.json)

# sanitize TOOL: the kernel's launches, and not those of cuBLAS, under a tool of compute-sanitizer.
sanitize() {
  local name="compute-sanitizer $1"
  if ! command -v compute-sanitizer >/dev/null; then
    record "$name" skipped 0 "there is no compute-sanitizer"
    return
  fi
  step "$name" 60 compute-sanitizer --tool "$1" --error-exitcode 9 --kernel-name kns=flashcheck \
    "$build/src/flashcheck" run "${small_cases[@]/#/cases/}" --device cuda --require cuda --jobs 1
}

ask_device() { nvidia-smi --id=0 --format=csv,noheader --query-gpu="$1"; }

echo "$device"
if [[ -z $build ]]; then
  build=$PWD/build/gpu
  capability=$(ask_device compute_cap)
  step configure 60 cmake --preset cuda -B "$build" \
    -D FLASHCHECK_CUDA_ARCHITECTURES="${capability/./}-real"
  step build 300 cmake --build "$build" --target flashcheck attention_bench
fi
step backends 30 "$build/src/flashcheck" backends
step cases 120 "$build/src/flashcheck" run cases --device cuda --require cuda \
  --output "jsonl:$output/cases.jsonl"
for tool in memcheck racecheck initcheck synccheck; do sanitize $tool; done
step attention 180 "$build/tests/gpu/attention_bench" --budget 150 --output "$output/attention.json"
clocks=$(ask_device clocks.sm,clocks.mem,power.draw,temperature.gpu)
if command -v python3 >/dev/null; then
  step sdpa 120 python3 tests/gpu/sdpa_bench.py --budget 90 --beside "$output/attention.json" \
    --output "$output/sdpa.json"
else
  record sdpa skipped 0 "there is no python3"
fi

# Each part is JSON already.
part() { [[ -s $output/$1 ]] && "${@:2}" "$output/$1" || echo null; }
{
  echo '{"format": "flashcheck-gpu/1",'
  echo "\"device\": \"$(ask_device name,driver_version,clocks.max.sm,clocks.max.mem,power.limit)\","
  echo "\"clocks_after_attention\": \"$clocks\","
  echo "\"revision\": \"$(git describe --always --dirty 2>/dev/null)\","
  echo "\"seconds\": $SECONDS,"
  echo "\"steps\": [$(IFS=,; echo "${records[*]}")],"
  echo "\"cases\": $(part cases.jsonl tail -n 1),"
  echo "\"attention\": $(part attention.json cat),"
  echo "\"sdpa\": $(part sdpa.json cat)}"
} >"$output/results.json"

for table in attention sdpa; do [[ ! -s $output/$table.log ]] || cat "$output/$table.log"; done
[[ ! -s $output/cases.log ]] || tail -n 1 "$output/cases.log"
echo "$num_failed of ${#records[@]} steps failed; $SECONDS s; $output/results.json"
((num_failed == 0)) || exit $failed

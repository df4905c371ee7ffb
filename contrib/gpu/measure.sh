#!/usr/bin/env bash
# Measures the V2X verifier on this machine's NVIDIA GPU, and compares its verdicts with the CPU's.
#
#     cargo build --release -p trackbed-verifier --example measure_gpu      # anywhere
#     contrib/gpu/measure.sh target/release/examples/measure_gpu OUT        # on the GPU's machine
#
# Needs NVIDIA's driver and the built program. With nvcc, the kernels are also compiled for this GPU in
# several ways. Ends within five minutes, and writes OUT/gpu.json with one object for each way.
set -uo pipefail
program=$(realpath "${1:?usage: measure.sh PROGRAM [OUT]}") out=${2:-gpu-measured}
source=$(realpath "$(dirname "$0")/../../crates/verifier/src/gpu/p256.cu")
mkdir -p "$out" && cd "$out" || exit 2
failed=0 separator=''
# One object of the result: NAME STATUS REGISTERS RESULT
object() {
    printf '%s{"way": "%s", "exit": %d, "registers": "%s", "result": %s}' "$separator" "$1" "$2" "$3" "${4:-null}" >>gpu.json
    separator=$',\n'
    echo "$1: exit $2, $SECONDS s" >&2
    [ "$2" = 0 ] || failed=1
}
# What a way prints may be cut off by its limit: then the text is no JSON, and is kept beside it.
run() { # NAME LIMIT REGISTERS ARGUMENTS...
    local name=$1 limit=$2 registers=$3 status
    shift 3
    timeout "$limit" "$program" "$@" >"$name.out" 2>"$name.log"
    status=$?
    if python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$name.out" 2>/dev/null || [ "$status" = 0 ]; then
        object "$name" "$status" "$registers" "$(cat "$name.out")"
    else
        object "$name" "$status" "$registers"
        cat "$name.out" "$name.log" >&2
    fi
}
card=$(nvidia-smi --query-gpu=name,driver_version,compute_cap,clocks.max.sm --format=csv,noheader 2>/dev/null) || card=
card=${card%%$'\n'*}
compiler=$(nvcc --version 2>/dev/null | tail -1)
printf '{"date": "%s", "card": "%s", "cpu": "%s", "nvcc": "%s", "source": "%s", "ways": [\n' "$(date -u +%FT%TZ)" "${card:-none}" \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$compiler" "$(sha256sum "$source" | cut -d' ' -f1)" >gpu.json

ways=("plain" "inline -DINLINE_ALL" "blocks-2 -DBLOCKS_LEAST=2" "blocks-4 -DBLOCKS_LEAST=4" "inline-2 -DINLINE_ALL -DBLOCKS_LEAST=2")
if [ -n "$compiler" ] && [ -n "$card" ]; then
    capability=$(cut -d, -f3 <<<"$card" | tr -d ' .')
    for way in "${ways[@]}"; do
        # shellcheck disable=SC2046 # options are words
        timeout 90 nvcc $(cut -s -d' ' -f2- <<<"$way") "-arch=sm_$capability" -cubin -Xptxas -v -o "${way%% *}.cubin" "$source" \
            >"${way%% *}.ptxas" 2>&1 &
    done
    wait
fi
# What everyone runs: the PTX in the program, compiled by the driver; a million verdicts.
run ptx 120 "" --verdicts 1000000
for way in "${ways[@]}"; do
    name=${way%% *}
    [ -e "$name.cubin" ] || { [ ! -e "$name.ptxas" ] || object "nvcc-$name" 1 "$(tail -1 "$name.ptxas" | tr -d '"')"; continue; }
    [ "$SECONDS" -lt 200 ] || { object "skipped-$name" 0 ""; continue; }
    registers=$(grep -o 'Used [0-9]* registers' "$name.ptxas" | grep -o '[0-9]*' | xargs)
    run "nvcc-$name" 40 "$registers" --program "$name.cubin" --verdicts 20000 --batches 1024,65536,1048576
done
# Accesses beyond the memory and races, on few signatures: each takes about a hundred times as long.
if command -v compute-sanitizer >/dev/null && [ -n "$card" ]; then
    for tool in memcheck racecheck; do
        [ "$SECONDS" -lt 240 ] || { object "skipped-$tool" 0 ""; continue; }
        timeout 30 compute-sanitizer --tool "$tool" --error-exitcode 9 "$program" --verdicts 2000 --batches 300 >"$tool.log" 2>&1
        status=$?
        # 124: it was not done in time, and has found nothing so far.
        [ "$status" != 124 ] || { object "$tool-unfinished" 0 ""; continue; }
        object "$tool" "$status" ""
    done
fi
printf '\n]}\n' >>gpu.json
rm -f ./*.cubin
cat gpu.json
exit "$failed"

#!/usr/bin/env bash
# Measures the V2X verifier on this machine's NVIDIA GPU, and compares its verdicts with the CPU's.
#
#     cargo build --release -p trackbed-verifier --example measure_gpu      # anywhere
#     contrib/gpu/measure.sh target/release/examples/measure_gpu OUT        # on the GPU's machine
#
# Needs NVIDIA's driver and the built program. With nvcc, the kernels are also compiled for this GPU in
# several ways. Takes two to four minutes, and writes OUT/gpu.json with one object for each way.
set -uo pipefail
program=${1:?usage: measure.sh PROGRAM [OUT]} out=${2:-gpu-measured}
source=$(dirname "$0")/../../crates/verifier/src/gpu/p256.cu
mkdir -p "$out" || exit 2
run() { # NAME ARGUMENTS...: one object of the result
    local name=$1 result status
    shift
    result=$(timeout 150 "$program" "$@" 2>"$out/$name.log")
    status=$?
    [ -n "$result" ] || result='null'
    printf '%s{"way": "%s", "exit": %d, "result": %s}' "$separator" "$name" "$status" "$result" >>"$out/gpu.json"
    separator=$',\n'
    echo "$name: exit $status" >&2
    [ "$status" = 0 ] || cat "$out/$name.log" >&2
    return "$status"
}
card=$(nvidia-smi --query-gpu=name,driver_version,compute_cap,clocks.max.sm --format=csv,noheader 2>/dev/null | head -1)
printf '{"card": "%s", "ways": [\n' "${card:-none}" >"$out/gpu.json"
separator='' failed=0
# What everyone runs: the PTX in the program, compiled by the driver; a million verdicts.
run ptx --verdicts 1000000 || failed=1
if command -v nvcc >/dev/null && [ -n "$card" ]; then
    capability=$(cut -d, -f3 <<<"$card" | tr -d ' .')
    for way in "plain" "inline -DINLINE_ALL" "blocks-2 -DBLOCKS_LEAST=2" "blocks-4 -DBLOCKS_LEAST=4"; do
        name=${way%% *}
        # shellcheck disable=SC2086 # options are words
        nvcc $(cut -s -d' ' -f2- <<<"$way") "-arch=sm_$capability" -cubin -Xptxas -v -o "$out/$name.cubin" "$source" \
            2>"$out/$name.ptxas" || { failed=1; continue; }
        run "nvcc-$name" --program "$out/$name.cubin" --verdicts 20000 --batches 1024,65536,1048576 || failed=1
    done
fi
# Accesses beyond the memory and races, on few signatures: each takes about a hundred times as long.
if command -v compute-sanitizer >/dev/null && [ -n "$card" ]; then
    for tool in memcheck racecheck; do
        timeout 60 compute-sanitizer --tool "$tool" --error-exitcode 9 "$program" --verdicts 2000 --batches 300 \
            >"$out/$tool.log" 2>&1
        printf '%s{"way": "%s", "exit": %d}' "$separator" "$tool" $? >>"$out/gpu.json"
    done
fi
printf '\n]}\n' >>"$out/gpu.json"
rm -f "$out"/*.cubin
cat "$out/gpu.json"
exit "$failed"

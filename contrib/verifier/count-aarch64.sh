#!/bin/sh
# Counts the instructions of one verification on aarch64, under QEMU: of AWS-LC, and of the portable path and that by
# NEON, without and with tables. A message of 300 B is hashed with each. An emulator says nothing about time.
#
#     contrib/verifier/count-aarch64.sh
set -eu
cd "$(dirname "$0")/../.."
for program in qemu-aarch64-static:qemu-user-static aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu cmake:cmake; do
    command -v "${program%:*}" >/dev/null || { echo "${program%:*} is missing (Debian package ${program#*:})" >&2; exit 2; }
done
[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || { echo "the C library is missing (Debian package libc6-dev-arm64-cross)" >&2; exit 2; }
[ -d "$(rustc --print target-libdir --target aarch64-unknown-linux-gnu)" ] ||
    { echo "Rust's library is missing (rustup target add aarch64-unknown-linux-gnu)" >&2; exit 2; }
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
bench=$(cargo bench --target aarch64-unknown-linux-gnu -p trackbed-verifier --features aws-lc --bench beside_others \
    --no-run 2>&1 | tee /dev/stderr | sed -n 's/.*Executable.*(\(.*\)).*/\1/p')

# Instructions of the bench with so many rounds of 32 messages: QEMU logs each block once with its instructions, and
# then each time that it is executed.
count() { # ROUNDS WHAT
    TRACKBED_BENCH="4 32 $1" qemu-aarch64-static -L /usr/aarch64-linux-gnu -d in_asm,exec,nochain "$bench" "$2" 2>&1 | awk '
        /^Trace/ { all += size[substr($0, index($0, "/") + 1, 16)]; next }
        /^IN:/ { block = "" }
        /^0x/ { if (!block) { block = sprintf("%s%s", "0000000000000000", substr($1, 3, length($1) - 3))
                              block = substr(block, length(block) - 15); size[block] = 0 }
                size[block]++ }
        END { printf "%.0f\n", all }'
}
one() { # WHAT: AWS-LC runs in each round
    echo $((($(count 3 "$1") - $(count 1 "$1")) / 64))
}
aws=$(one none)
echo "AWS-LC: $aws"
for what in "portable, no table, batches of 8" "portable, tables, batches of 32" \
    "neon, no table, batches of 8" "neon, tables, batches of 32"; do
    own=$(($(one "$what") - aws))
    echo "$what: $own"
done

#!/usr/bin/env bash
# Tests the artefacts of a release as users install them, most in a root that holds nothing else. It prints a
# line for each trial: PASSED, SKIPPED or FAILED, and what the trial printed before a failure.
# Usage: installed.sh ROOT-OF-THE-REPOSITORY
set -uo pipefail
repository=$1
dist=$1/target/dist
work=$1/target/dist-work
machine=$(uname -m)
case $machine in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; *) debian=$machine ;; esac
mkdir -p "$work"

# An empty folder for a trial.
empty() {
    rm -rf "${work:?}/$1" && mkdir -p "$work/$1" && echo "$work/$1"
}

# Runs a program in a root of its own, without a network.
inside() {
    unshare --map-root-user --net chroot "$@"
}

# What a new user does with the program $2, in the root $1.
exercise() {
    inside "$1" "$2" list | grep -q vru
    inside "$1" "$2" run vru --quick --quiet --out /out > "$1/table"
    grep -q 'Fastest: QUIC, 0-RTT' "$1/table"
    inside "$1" "$2" replay /out 5 0 --out /one --quiet
    inside "$1" "$2" report /out --out /page.html --quiet
    test -s "$1/one/server.pcapng"
    test -s "$1/page.html"
}

checksums() {
    cd "$dist" && sha256sum --strict -c SHA256SUMS
}

tarball() {
    root=$(empty tarball)
    tar -C "$root" -xzf "$dist"/trackbed-*-linux-"$machine".tar.gz
    folder=/$(basename "$root"/trackbed-*)
    test "$(stat -c %s "$dist"/trackbed-*-linux-"$machine".tar.gz)" -le 25000000
    exercise "$root" "$folder/trackbed"
    inside "$root" "$folder/trackbed" plan "$folder/scenarios/bulk.toml"
}

# Runs a service for two seconds, in a root of its own with the /proc and /dev of a system. It has to end well
# when it is told to.
service() {
    mkdir -p "$1/proc" "$1/dev"
    # shellcheck disable=SC2016
    unshare --map-root-user --net --mount sh -ec 'for each in proc dev; do mount --rbind "/$each" "$0/$each"; done
        exec timeout --preserve-status 2 chroot "$0" "$@"' "$@"
}

# The package's files, and the commands of its units.
package() {
    root=$(empty package)
    dpkg-deb -x "$dist"/trackbed_*_"$debian".deb "$root"
    exercise "$root" /usr/bin/trackbed
    mkdir -p "$root"/etc/trackbed "$root"/run/trackbed-phad "$root"/run/trackbed-serve
    inside "$root" /usr/bin/trackbed handover build --rides 1 -o /etc/trackbed/line.geojson
    printf 'table = "/etc/trackbed/line.geojson"\n[operators]\nA = "wwan0"\nB = "wwan1"\n' > "$root/etc/trackbed/phad.toml"
    for unit in "$root"/usr/lib/systemd/system/*.service; do
        # shellcheck disable=SC2046
        service "$root" $(sed -n 's/^ExecStart=//p' "$unit")
    done
}

in_debian() {
    # shellcheck disable=SC2016
    mmdebstrap --variant=essential --quiet --customize-hook="copy-in $(echo "$dist"/trackbed_*_"$debian".deb) /tmp" \
        --customize-hook='chroot "$1" sh -ec "dpkg -i /tmp/*.deb; cd /tmp; trackbed run vru --quick --quiet;
            dpkg -V trackbed; dpkg -P trackbed; ! test -e /usr/bin/trackbed"' stable /dev/null \
        'deb http://deb.debian.org/debian stable main' > "$work/debian" 2>&1
    grep Fastest: "$work/debian"
}

image() {
    layout=$(empty layout)
    root=$(empty image)
    tar -C "$layout" -xf "$dist"/trackbed-*-linux-"$machine".oci.tar
    # The manifest for Docker names the layer's file; the index leads to the same one.
    layer=$(grep -o 'blobs/sha256/[0-9a-f]*"\]' "$layout/manifest.json" | tr -d '"]')
    manifest=$(grep -o 'sha256:[0-9a-f]*' "$layout/index.json" | tr : /)
    grep -q "${layer##*/}" "$layout/blobs/$manifest"
    grep -rq '"User":"65532:65532"' "$layout/blobs"
    tar -C "$root" -xzf "$layout/$layer"
    exercise "$root" /usr/bin/trackbed
}

image_by_skopeo() {
    skopeo inspect "oci-archive:$(echo "$dist"/trackbed-*-linux-"$machine".oci.tar)"
    skopeo inspect "docker-archive:$(echo "$dist"/trackbed-*-linux-"$machine".oci.tar)"
}

# An engine finds the image by the name of the documentation.
image_by_podman() {
    version=$(basename "$dist"/trackbed-*-linux-"$machine".oci.tar | cut -d- -f2)
    store=$(empty podman)
    engine=(podman --root "$store/root" --runroot "$store/run" --storage-driver vfs)
    "${engine[@]}" load -i "$dist/trackbed-$version-linux-$machine.oci.tar"
    "${engine[@]}" image exists "trackbed:$version"
    "${engine[@]}" rmi "trackbed:$version"
}

wheel() {
    folder=$(empty wheel)
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --no-index "$dist"/*"_$machine.whl"
    cd "$folder" && bin/trackbed run vru --quick --quiet | grep Fastest:
    if [ -d "$repository/python/src" ]; then bin/python -c 'import trackbed'; fi
}

bill() {
    folder=$(empty bill)
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet 'cyclonedx-python-lib[validation]'
    "$folder/bin/python" - "$dist"/*.cdx.json <<'PYTHON'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
for path in sys.argv[1:]:
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(path).read())
    sys.exit(f"{path}: {error}") if error else None
PYTHON
}

# All files for a processor hold the same program, which needs no interpreter, so no library.
programs() {
    folder=$(empty programs) && mkdir -p "$folder"/{tar,deb,whl,oci,layer}
    tar -C "$folder/tar" --strip-components=1 -xzf "$dist"/trackbed-*-linux-"$1".tar.gz
    case $1 in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; esac
    dpkg-deb -x "$dist"/trackbed_*_"$debian".deb "$folder/deb"
    python3 -m zipfile -e "$dist"/*"_$1.whl" "$folder/whl"
    tar -C "$folder/oci" -xf "$dist"/trackbed-*-linux-"$1".oci.tar
    grep -q "\"architecture\":\"$debian\"" "$folder/oci/index.json"
    layer=$(grep -o 'blobs/sha256/[0-9a-f]*"\]' "$folder/oci/manifest.json" | tr -d '"]')
    tar -C "$folder/layer" -xzf "$folder/oci/$layer"
    for other in deb/usr/bin whl/*.data/scripts layer/usr/bin; do
        # shellcheck disable=SC2086
        cmp "$folder/tar/trackbed" "$folder"/$other/trackbed
    done
    readelf --file-header "$folder/tar/trackbed" | grep -i "machine:.*${1/x86_64/x86-64}"
    test "$(readelf --program-headers "$folder/tar/trackbed" | grep -c INTERP)" = 0
}

programs_x86_64() { programs x86_64; }
programs_aarch64() { programs aarch64; }

# The programs for both processors write the same results, byte for byte. `bulk` has losses for the congestion
# controllers, `train` has the models of a railway and MPTCP.
processors() {
    for processor in x86_64 aarch64; do
        folder=$(empty "$processor")
        tar -C "$folder" --strip-components=1 -xzf "$dist"/trackbed-*-linux-"$processor".tar.gz
        with=$(if [ "$processor" != "$machine" ]; then echo "$emulator"; fi)
        for scenario in vru bulk train; do
            (cd "$folder" && $with ./trackbed run $scenario --quick --quiet --out $scenario > $scenario.txt)
        done
        (cd "$folder" && $with ./trackbed report vru --out vru.html --quiet)
        # What tells the machines apart, and when they ran.
        rm "$folder"/*/about.json
    done
    for name in {vru,bulk,train}{,.txt} vru.html; do
        diff -r "$work"/{x86_64,aarch64}/"$name"
    done
}

# Runs a trial: its function, what it is about, and what it needs: programs, or files.
trial() {
    for need in "${@:3}"; do
        if ! command -v "$need" > /dev/null && ! compgen -G "$need" > /dev/null; then
            echo "SKIPPED: $2: needs ${need##*/}"
            return
        fi
    done
    # Within `if`, bash would ignore `set -e`.
    (set -e; "$1") > "$work/$1.log" 2>&1
    case $? in
    0) echo "PASSED: $2" ;;
    *) tail -n 20 "$work/$1.log" && echo "FAILED: $2" ;;
    esac
}

other=$(if [ "$machine" = x86_64 ]; then echo aarch64; else echo x86_64; fi)
emulator=$(command -v "qemu-$other-static" "qemu-$other" | head -n 1)
trial checksums "the checksums" sha256sum
trial tarball "the tarball in an empty root" unshare "$dist/*-linux-$machine.tar.gz"
trial package "the package in an empty root, and its units' commands" unshare dpkg-deb "$dist/*_$debian.deb"
trial in_debian "the package, installed in Debian and removed" mmdebstrap "$dist/*_$debian.deb"
trial image "the image as a root" unshare "$dist/*-linux-$machine.oci.tar"
trial image_by_skopeo "the image, as skopeo reads it" skopeo "$dist/*-linux-$machine.oci.tar"
trial image_by_podman "the image's name in podman" podman "$dist/*-linux-$machine.oci.tar"
trial wheel "the wheel in a new environment" python3 "$dist/*_$machine.whl"
trial bill "the bill of materials, by its schema" python3 "$dist/*.cdx.json"
for processor in x86_64 aarch64; do
    trial "programs_$processor" "the same program in all files for $processor" dpkg-deb python3 readelf \
        "$dist/*-linux-$processor.tar.gz"
done
trial processors "equal results on x86_64 and aarch64" "$dist/*-linux-x86_64.tar.gz" "$dist/*-linux-aarch64.tar.gz" "${emulator:-qemu-$other}"

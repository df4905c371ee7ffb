#!/bin/sh
# Installs servers of other stacks, and suites: sh contrib/stacks/install.sh quic-go aioquic s2n-quic quiche nginx pion
# wolfssl h2spec paho tlsfuzzer
# They go to /usr/local/sbin; as root, Trackbed starts programs as another user, who can read that folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=/usr/local/sbin
for stack in "$@"; do
    case $stack in
    h2spec | quic-go | pion)
        command -v go > /dev/null || { echo "$stack needs Go 1.26 or newer: https://go.dev/dl" >&2; exit 1; }
        ;;
    esac
    case $stack in
    h2spec)
        GOBIN=$bin go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible
        ;;
    quic-go | pion)
        (cd "$here/$stack" && go build -o "$bin/trackbed-$stack" .)
        ;;
    aioquic)
        /usr/bin/python3 -m venv /opt/trackbed-stacks
        /opt/trackbed-stacks/bin/python3 -m pip install --quiet aioquic
        install "$here/aioquic/trackbed-aioquic" $bin/trackbed-aioquic
        ;;
    s2n-quic | quiche | wolfssl)
        folder=rust
        [ "$stack" != wolfssl ] || folder=wolfssl
        cargo install --quiet --locked --path "$here/$folder" --target-dir "$here/../../target/stacks" \
            --root /opt/trackbed-stacks --features "$stack" --bin "trackbed-$stack" || {
            echo "$stack compiles C: apt install g++ cmake libclang-dev autoconf automake libtool" >&2
            exit 1
        }
        install "/opt/trackbed-stacks/bin/trackbed-$stack" $bin/
        ;;
    nginx)
        # Of August 2026, with the fault of nginx/nginx#1616; OPENSSL may be a folder with the sources of 3.5 or newer.
        sources=$here/../../target/stacks/nginx
        git clone --quiet https://github.com/nginx/nginx "$sources"
        git -C "$sources" checkout --quiet 3f6f7824d4e2eb1ac37dec76683d525ac0ff521c
        tls=${OPENSSL:-$sources/openssl}
        [ -d "$tls" ] || git clone --quiet --depth 1 --branch openssl-3.6.0 https://github.com/openssl/openssl "$tls"
        (cd "$sources" && auto/configure --prefix=/opt/trackbed-nginx --with-http_v3_module \
            --without-http_rewrite_module --without-http_gzip_module --with-openssl="$tls" \
            --with-openssl-opt='no-tests no-docs no-apps no-legacy no-module' && make && make install) > /dev/null
        install "$here/nginx/trackbed-nginx" $bin/trackbed-nginx
        ;;
    paho)
        git clone --quiet https://github.com/eclipse-paho/paho.mqtt.testing /opt/trackbed-paho
        git -C /opt/trackbed-paho checkout --quiet 9d7bb80bb8b9d9cfc0b52f8cb4c1916401281103
        install "$here/../judges/paho.py" $bin/trackbed-paho
        ;;
    tlsfuzzer)
        git clone --quiet https://github.com/tlsfuzzer/tlsfuzzer /opt/trackbed-tlsfuzzer
        git -C /opt/trackbed-tlsfuzzer checkout --quiet 14555fe211456c46deccc4b2d94751dbd894aece
        /usr/bin/python3 -m venv /opt/trackbed-stacks
        /opt/trackbed-stacks/bin/python3 -m pip install --quiet tlslite-ng==0.9.0b2
        install "$here/../judges/tls.py" $bin/trackbed-tlsfuzzer
        ;;
    *)
        echo "unknown stack $stack; write quic-go, aioquic, s2n-quic, quiche, nginx, pion, wolfssl, paho, tlsfuzzer or h2spec" >&2
        exit 2
        ;;
    esac
done

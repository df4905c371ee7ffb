#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl disable --now trackbed-phad trackbed-relay trackbed-serve || true
fi

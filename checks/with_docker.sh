#!/usr/bin/env bash
# Run a command beside a Docker daemon: the one that answers, or one that is started for as long as the command runs.
#
#     checks/with_docker.sh COMMAND...
#
# Ends with the status of the command; with 69 where no daemon answers and none can be started, which takes root.
set -euo pipefail

answers() { docker info >/dev/null 2>&1; }

if answers; then
    exec "$@"
fi

folder=$(mktemp -d -t docker-check.XXXXXX)  # checks/traces.py knows the name
daemon=
stop() {
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap stop EXIT

export DOCKER_HOST=unix://$folder/socket
dockerd --host "$DOCKER_HOST" --pidfile "$folder/pid" --data-root "$folder/data" --exec-root "$folder/run" \
    --bridge=none --iptables=false >"$folder/log" 2>&1 &
daemon=$!
for _ in $(seq 100); do
    if answers || ! kill -0 "$daemon" 2>/dev/null; then
        break
    fi
    sleep 0.2
done
if ! answers; then
    echo "no Docker daemon answers, and none could be started: $(tail -n 1 "$folder/log")" >&2
    exit 69
fi
"$@"

#!/usr/bin/env bash
# Install from Debian's packages what tests use and this machine lacks: docker-compose, a Docker daemon, Chromium.
set -euo pipefail

wanted=()
docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || wanted+=(docker-compose)
docker info >/dev/null 2>&1 || command -v dockerd >/dev/null || wanted+=(docker.io)
command -v chromium >/dev/null || wanted+=(chromium)
[ "${#wanted[@]}" -gt 0 ] || exit 0
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}"

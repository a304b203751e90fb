#!/usr/bin/env bash
# Swaps the queues and caches of loadgen/apiserver/operator, a small operator with a big
# cached list, against a real API server that is fresh in each round.
# usage: scripts/swap-operator.sh [FLAG OF BENCHRUN SWAP...]
case ${1:-} in -h | --help) sed -n '2,/^case/{/^case/d;s/^# \?//p}' "$0" && exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(mktemp -d)
trap 'rm -rf -- "$bin"' EXIT
go build -trimpath -o "$bin/benchrun" ./cmd/benchrun
cd loadgen/apiserver
go build -o "$bin/serve" ./serve
go build -o "$bin/load" ./operator/load
export PATH="$bin:$PATH"
# shellcheck disable=SC2016 # the shells of the rounds fill the names in
benchrun swap ./operator "$@" \
  --server 'serve | { read -r line; eval "$line"; load --pods 10 fill >&2 && echo "$line"; cat >/dev/null; }' \
  --load 'load --pods 10 --changes 750 --rate 250 change' --state 'load state' \
  --metrics http://127.0.0.1:18080/metrics -- --metrics=127.0.0.1:18080

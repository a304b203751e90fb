#!/usr/bin/env bash
# Swaps the queues and caches of minimalkueue, Kueue's controllers and scheduler as its own
# performance tests start them, against a real API server that is fresh in each round. The
# load is those tests' too: two cohorts of three queues, workloads of three sizes.
# usage: scripts/swap-kueue.sh [FLAG OF BENCHRUN SWAP...]
# A relative --out is below reports/out/kueue-source/kueue, which is removed at the end.
case ${1:-} in -h | --help) sed -n '2,/^case/{/^case/d;s/^# \?//p}' "$0" && exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
version=v0.17.0
root=$PWD
work=$root/reports/out/kueue-source # within the clone, so that benchrun finds our library
rm -rf -- "$work"
mkdir -p "$work"
trap 'rm -rf -- "$work"' EXIT
export GOFLAGS=${GOFLAGS:-} PATH="$work:$PATH"
go build -trimpath -o "$work/benchrun" ./cmd/benchrun
cd loadgen/apiserver
go build -o "$work/serve" ./serve
go build -o "$work/crds" ./crds
source=$(cd / && go mod download -json "sigs.k8s.io/kueue@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$source" "$work/kueue"
chmod -R u+w "$work/kueue"
cd "$work/kueue"
tests=./test/performance/scheduler
go build -o "$work/runner" "$tests/runner"
set_of() { printf '      - {count: %s, creationIntervalMs: %s, workloads: [{className: %s, runtimeMs: %s, priority: %s, request: %s}]}\n' "$@"; }
{
  printf 'cohorts:\n- className: cohort\n  count: 2\n  queuesSets:\n'
  printf '    - className: cq\n      count: 3\n      nominalQuota: 20\n      borrowingLimit: 100\n      reclaimWithinCohort: Any\n      withinClusterQueue: LowerPriority\n      workloadsSets:\n'
  set_of 35 100 small 200 50 1
  set_of 10 350 medium 500 100 5
  set_of 5 700 large 1000 200 20
} >"$work/generator.yaml"
# shellcheck disable=SC2016 # the shells of the rounds fill the names in
benchrun swap "$tests/minimalkueue" --name kueue "$@" \
  --server '(cd ../../../../loadgen/apiserver && exec serve) | { read -r line; eval "$line"; crds config/components/crd/bases >&2 && echo "$line"; cat >/dev/null; }' \
  --load 'runner -o .. --generatorConfig ../generator.yaml' --state 'wc -l <../wlStates.csv' \
  --metrics http://127.0.0.1:18080/metrics -- --metricsPort=18080

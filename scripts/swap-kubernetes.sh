#!/usr/bin/env bash
# Swaps the queues and caches of kube-controller-manager, all of its controllers, against
# a real API server that is fresh in each round.
# usage: scripts/swap-controller-manager.sh lists|mixed [FLAG OF BENCHRUN SWAP...]
#   lists  50 deployments of 10 pods in one namespace, each with a PodDisruptionBudget:
#          each change of a pod makes the controllers list the namespace
#   mixed  10 namespaces with deployments and stateful sets; deployments that are scaled
#          and jobs that begin among the changes of pods
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-}
case $kind in
lists) work=(--changes 2000 --rate 100) ;;
mixed) work=(--namespaces 10 --apps 5 --sets 3 --replicas 5 --budgets=false --changes 2000 --rate 100 --scale 20 --jobs 25) ;;
*) echo "error: the load is \"$kind\", expected lists or mixed" >&2; exit 2 ;;
esac
shift
bin=$(mktemp -d)
trap 'rm -rf -- "$bin"' EXIT
go build -trimpath -o "$bin/benchrun" ./cmd/benchrun
cd loadgen/apiserver
go build -o "$bin/serve" ./serve
go build -o "$bin/managerload" ./managerload
export PATH="$bin:$PATH"
load="managerload ${work[*]}"
cd controlplane
# shellcheck disable=SC2016 # the shells of the rounds fill the names in
benchrun swap ./manager --name "kube-controller-manager-$kind" "$@" \
  --server "(cd .. && exec serve) | { read -r line; eval \"\$line\"; $load fill >&2 && echo \"\$line\"; cat >/dev/null; }" \
  --load "$load change" --state "$load state" -- \
  '--kubeconfig=$KUBECONFIG' --leader-elect=false --secure-port=0 --kube-api-qps=1000 --kube-api-burst=2000

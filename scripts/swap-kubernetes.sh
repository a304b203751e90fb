#!/usr/bin/env bash
# Swaps the queues and caches of kube-controller-manager, all of its controllers, or of
# kube-scheduler against a real API server that is fresh in each round.
# usage: scripts/swap-kubernetes.sh lists|mixed|scheduling [FLAG OF BENCHRUN SWAP...]
#   lists       kube-controller-manager with 50 deployments of 10 pods in one namespace, each
#               with a PodDisruptionBudget and a HorizontalPodAutoscaler that looks every 2 s:
#               each change of a pod makes controllers list pods
#   mixed       kube-controller-manager with 10 namespaces of deployments and stateful sets;
#               deployments that are scaled and jobs that begin among the changes of pods
#   scheduling  kube-scheduler with 500 nodes in three zones and 3,000 pods, of which every
#               second one is to be spread over the zones
case ${1:-} in -h | --help) sed -n '2,/^case/{/^case/d;s/^# \?//p}' "$0" && exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-}
program=manager load=managerload change=change
name=kube-controller-manager-$kind
flags=(--secure-port=0 --leader-elect=false --kube-api-qps=1000 --kube-api-burst=2000)
case $kind in
lists) work=(--changes 2000 --rate 100 --autoscalers) flags+=(--horizontal-pod-autoscaler-sync-period=2s) ;;
mixed) work=(--namespaces 10 --apps 5 --sets 3 --replicas 5 --budgets=false --changes 2000 --rate 100 --scale 20 --jobs 25) ;;
scheduling) program=scheduler load=schedulerload change=schedule name=kube-scheduler work=(--pods 3000) ;;
*) echo "error: the load is \"$kind\", expected lists, mixed or scheduling" >&2; exit 2 ;;
esac
shift
bin=$(mktemp -d)
trap 'rm -rf -- "$bin"' EXIT
go build -trimpath -o "$bin/benchrun" ./cmd/benchrun
cd loadgen/apiserver
go build -o "$bin/serve" ./serve
go build -o "$bin/crds" ./crds
go build -o "$bin/$load" "./$load"
export PATH="$bin:$PATH"
load="$load ${work[*]}"
cd controlplane
# shellcheck disable=SC2016 # the shells of the rounds fill the names in
benchrun swap "./$program" --name "$name" "$@" \
  --server "(cd .. && exec serve) | { read -r line; eval \"\$line\"; crds ../managerload/crds >&2 && $load fill >&2 && echo \"\$line\"; cat >/dev/null; }" \
  --load "$load $change" --state "$load state" -- \
  '--kubeconfig=$KUBECONFIG' "${flags[@]}"

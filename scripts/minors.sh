#!/usr/bin/env bash
# Builds a copy of the library against each supported Kubernetes minor and tests it
# there: the floor of impl/go.mod, the newest patch of each minor above it, the newest
# alpha. A floor is where the compiler puts it: below, an error names a file that says so.
# usage: scripts/minors.sh [-short] [CLIENT-GO-VERSION...]     default: all of the table
#   -short  builds with every minor, and runs the conformance suites alone
set -euo pipefail
cd "$(dirname "$0")/../impl"

# client-go, the controller-runtime of that minor, and what builds there: the work queue
# family, or all with the cache family. The alpha wants a Go newer than the suite's, and
# a kube-openapi newer than the one that it names, which the module proxy lacks.
table='
v0.34.0         v0.22.0  queues
v0.35.10        v0.23.3  queues
v0.36.6         v0.24.1  all
v0.37.2         v0.25.2  all
v0.38.0-alpha.2 v0.25.2  all  k8s.io/kube-openapi@latest
'
short=
if [ "${1:-}" = -short ]; then short=yes && shift; fi
versions=$(awk 'NF { print $1 }' <<<"$table")
for v in "$@"; do
  grep -qxF -- "$v" <<<"$versions" || { echo "error: no client-go $v in the table, expected one of" $versions >&2; exit 2; }
done
queues=(./queue ./delay ./ratelimit ./priority ./election)
export GOWORK=off GOTOOLCHAIN=auto GOFLAGS=-trimpath # the cache knows the copy again
source=$PWD
temp=$(mktemp -d)
trap 'chmod -R u+w "$temp" && rm -rf -- "$temp"' EXIT

# without_caches takes the cache family out of the catalogue and its suites.
without_caches() {
  rm -r indexer fifo informer impltest/{indexer,fifo,informer,handler}*.go
  find conformance -name '*_test.go' ! -name conformance_test.go -delete
  grep -lE '"(k8s.io/client-go/tools/cache|.*/impl/(fifo|indexer|informer))"' ./*.go | xargs rm
  echo 'package impl; func cacheComponents() []component { return nil }' >caches.go
  echo 'package impltest; func cacheClauses() []Clause { return nil }' >impltest/caches.go
  echo 'package conformance; import "testing"; func cacheTests() []testing.InternalTest { return nil }' >conformance/caches.go
}

# without_typed takes the typed wrapper of informers, which v0.36 lacks, out of the suite,
# and removes a handler as v0.37's ShutDownEventHandler does.
without_typed() {
  cat >impltest/informer_v0_37.go <<'EOS'
package impltest

import "k8s.io/client-go/tools/cache"

func shutDownEventHandler(i cache.SharedInformer, handle cache.ResourceEventHandlerRegistration) error {
	err := i.RemoveEventHandler(handle)
	<-handle.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
	return err
}

func informerTyped(*trial, newInformer) {}
EOS
  echo "left out: the clause \"typed\" of informers, which client-go has from v0.37 on"
}

# Upstream's own variants have other faults in each version: they are tested with the
# version that the suite pins. So is what compares with them, or runs in them, and what
# asks for the floors of go.mod, which the copy has raised.
upstream='^TestImportLiftsNothing$|^TestWeight$|^TestUpstream|^TestCatalogue$/.*/^(client-go|controller-runtime)$|^TestCatalogue$/^storage$/.*/^no-goroutine|^TestCatalogue$/.*/.*/^priority-differential$|^TestLog$/^client-go$'
conformance() { go test ./conformance -run '^TestCatalogue|^TestConfigs' -skip "$upstream"; }

tested=0
while read -r client_go controller_runtime family others; do
  [ -n "$client_go" ] || continue
  [ $# -eq 0 ] || [[ " $* " == *" $client_go "* ]] || continue
  printf -- '--- client-go %s, controller-runtime %s (%ss)\n' "$client_go" "$controller_runtime" "$SECONDS"
  copy=$temp/$client_go
  cp -R "$source" "$copy"
  cd "$copy"
  # shellcheck disable=SC2086 # others are words
  if ! go get k8s.io/{api,apimachinery,client-go}@"$client_go" sigs.k8s.io/controller-runtime@"$controller_runtime" $others >"$temp/log" 2>&1; then
    grep -qE 'download go|toolchain not available|403 Forbidden|dial tcp|no such host' "$temp/log" || { cat "$temp/log" >&2; exit 1; }
    echo "skipped: its modules or its Go can't be had here: $(tail -n 1 "$temp/log")"
    continue
  fi
  skip=$upstream
  # Before v0.35 a goroutine of client-go's queue outlives its shutdown: a bubble with one has no end.
  [[ $client_go != v0.34.* ]] || skip+='|^(Test|Fuzz)(Queues)?Match(es)?ClientGo$|^Test[A-Za-z]*Storage$/^no-goroutine|^TestLevels$/^priority-differential$'
  packages=(./...)
  if [ "$family" = queues ]; then
    if go build ./indexer ./fifo ./informer >"$temp/log" 2>&1; then
      echo "error: the cache family builds with client-go $client_go: test it there, and lower its floor" >&2
      exit 1
    fi
    grep -q 'client_go_v0_36_required.go' "$temp/log" || { cat "$temp/log" >&2; echo "error: no line above names the floor" >&2; exit 1; }
    without_caches
    packages=("${queues[@]}")
  fi
  if [[ $client_go == v0.36.* ]]; then
    without_typed
    skip+='|^TestInformerFaults$/^fault=values-indexed$'
  fi
  fake=sigs.k8s.io/controller-runtime/pkg/client/fake # of an alpha, it is older than client-go
  if ! go build "$fake" >/dev/null 2>&1; then
    echo "left out: $(grep -lF "\"$fake\"" ./*_test.go | xargs), since $fake $controller_runtime does not build"
    grep -lF "\"$fake\"" ./*_test.go | xargs rm
  fi
  if [ -n "$short" ]; then
    go build "${packages[@]}"
  else
    go vet "${packages[@]}" ./conformance
    go test -timeout 30m -skip "$skip" "${packages[@]}"
  fi
  [ -z "$short" ] && [ "$family" = all ] || conformance # it is among the packages
  tested=$((tested + 1))
done <<<"$table"
echo "built against $tested minors"
[ "$tested" -gt 0 ]

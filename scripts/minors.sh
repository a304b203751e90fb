#!/usr/bin/env bash
# Builds the library against each supported Kubernetes minor and tests what builds: the
# floor of impl/go.mod, the newest patch of each minor above it, the newest alpha.
# usage: scripts/minors.sh [CLIENT-GO-VERSION...]     default: all of the table
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
queues=(./queue ./delay ./ratelimit ./priority ./election)
export GOWORK=off GOTOOLCHAIN=auto
temp=$(mktemp -d)
trap 'rm -rf -- "$temp"' EXIT

# without_caches writes an overlay that leaves the cache family out of the catalogue
# and its suites, as they don't compile below client-go v0.36.
without_caches() {
  printf 'package conformance\n\nimport "testing"\n\nfunc cacheTests() []testing.InternalTest { return nil }\n' >"$temp/caches.go"
  { grep -lE '"(k8s.io/client-go/tools/cache|.*/impl/(fifo|indexer|informer))"' ./*.go impltest/*.go conformance/*.go; echo conformance/caches.go; } |
    sed "s#^\./##" | awk -v dir="$PWD" -v stub="$temp/caches.go" '
      BEGIN { printf "{\"Replace\": {" }
      { printf "%s\"%s/%s\": \"%s\"", n++ ? ", " : "", dir, $0, $0 == "conformance/caches.go" ? stub : "" }
      END { print "}}" }' >"$temp/overlay.json"
}

tested=0
while read -r client_go controller_runtime family others; do
  [ -n "$client_go" ] || continue
  [ $# -eq 0 ] || [[ " $* " == *" $client_go "* ]] || continue
  printf -- '--- client-go %s, controller-runtime %s\n' "$client_go" "$controller_runtime"
  cp go.mod "$temp/go.mod"
  cp go.sum "$temp/go.sum"
  # shellcheck disable=SC2086 # others are words
  if ! go get -modfile="$temp/go.mod" k8s.io/{api,apimachinery,client-go}@"$client_go" \
    sigs.k8s.io/controller-runtime@"$controller_runtime" $others >"$temp/log" 2>&1; then
    grep -qE 'toolchain|403 Forbidden|dial tcp|no such host' "$temp/log" || { cat "$temp/log" >&2; exit 1; }
    echo "skipped: its modules or its Go can't be had here: $(tail -n 1 "$temp/log")"
    continue
  fi
  flags=(-modfile="$temp/go.mod") packages=(./...)
  if [ "$family" = queues ]; then
    without_caches
    flags+=(-overlay="$temp/overlay.json") packages=("${queues[@]}")
    if go build -modfile="$temp/go.mod" ./indexer ./fifo ./informer >"$temp/log" 2>&1; then
      echo "error: the cache family builds with client-go $client_go: test it there, and lower its floor" >&2
      exit 1
    fi
    grep -q 'requires_client_go_v0_36.go' "$temp/log" || { cat "$temp/log" >&2; echo "error: no line above names the floor" >&2; exit 1; }
  fi
  go build "${flags[@]}" "${packages[@]}"
  go vet "${flags[@]}" "${packages[@]}"
  go test "${flags[@]}" "${packages[@]}"
  [ "$family" = all ] || go test "${flags[@]}" ./conformance -run '^TestCatalogue'
  tested=$((tested + 1))
done <<<"$table"
echo "tested against $tested minors"
[ "$tested" -gt 0 ]

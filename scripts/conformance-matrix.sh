#!/usr/bin/env bash
# Runs the conformance suites under the schedulers and collectors that make races
# and lost wake-ups show, and for 32 bits where this machine can run that.
set -euo pipefail
cd "$(dirname "$0")/../impl"

suites() {
  echo "== $*"
  env "$@" go test -count=1 -timeout 30m ./impltest ./conformance
}
for procs in 1 2 4 16; do
  suites "GOMAXPROCS=$procs"
done
suites GOGC=1
suites GODEBUG=asyncpreemptoff=1
if [ "$(go env GOOS)/$(go env GOARCH)" = linux/amd64 ]; then
  echo "== GOARCH=386"
  GOARCH=386 go test -timeout 30m ./...
else
  echo "GOARCH=386 is not run: this machine is $(go env GOOS)/$(go env GOARCH)"
fi

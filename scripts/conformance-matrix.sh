#!/usr/bin/env bash
# Runs the conformance suites under the schedulers and collectors that make races
# and lost wake-ups show, and for 32 bits where this machine can run that; then vets the
# library for every other platform, for which the compiler makes all that it imports.
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
probe=$(mktemp -d)
trap 'rm -rf -- "$probe"' EXIT
printf 'package main\n\nfunc main() {}\n' >"$probe/main.go"
if GOARCH=386 go run "$probe/main.go" 2>/dev/null; then
  echo "== GOARCH=386"
  GOARCH=386 go test -timeout 30m ./...
else
  echo "GOARCH=386 is not run: this machine, $(go env GOOS)/$(go env GOARCH), can't run such programs"
fi
for platform in linux/386 linux/arm64 darwin/{amd,arm}64 windows/{amd,arm}64; do
  echo "== $platform"
  GOOS=${platform%/*} GOARCH=${platform#*/} go vet ./...
done

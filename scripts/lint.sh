#!/usr/bin/env bash
# Checks what a reviewer should not have to: format, vet (of the library for each
# platform), staticcheck, a tidy go.mod.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -- '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not gofmt-clean, run gofmt -w on:\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet ./...
(cd impl && go vet ./... && go tool staticcheck ./... && go mod tidy -diff)
# For other platforms from source, which takes seconds; the compiler, half an hour for all
# of them (make matrix), makes what programs import for one of 32 bits and one that is no Unix.
go run ./scripts/platforms -C impl linux/386 linux/arm64 darwin/{amd,arm}64 windows/{amd,arm}64
for platform in linux/386 windows/arm64; do
  (cd impl && GOOS=${platform%/*} GOARCH=${platform#*/} go build ./queue ./delay ./ratelimit ./fifo ./indexer ./informer)
done
go tool staticcheck ./...
go mod tidy -diff

# Modules of their own, so that the main one stays light. The 140 lines of the control
# plane are compiled by the end-to-end tests (make e2e), which take each package from
# the cache afterwards. Here vet and staticcheck would compile or read all of Kubernetes
# once more, and tidy download what its tests import. What the tests would not tell is
# a missing requirement: they skip where modules can't be had.
staticcheck=$(go tool -n staticcheck)
(cd loadgen/apiserver && go vet ./... && "$staticcheck" ./... && go mod tidy -diff)
(cd loadgen/apiserver/controlplane && go list -deps . >/dev/null)
(cd bench/peers && go list -deps . >/dev/null) # make peers tests them

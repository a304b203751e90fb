#!/usr/bin/env bash
# Checks what a reviewer should not have to: format, vet (for other processors too),
# staticcheck, a tidy go.mod.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -- '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not gofmt-clean, run gofmt -w on:\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet ./...
for arch in 386 arm64; do # words of another size, the code without assembly
  GOARCH=$arch go vet ./...
done
go tool staticcheck ./...
go mod tidy -diff

# Modules of their own, so that the main one stays light. Staticcheck is the main
# module's tool; for the 140 lines of the control plane it would read all of
# Kubernetes, which takes minutes.
staticcheck=$(go tool -n staticcheck)
(cd loadgen/apiserver && go vet ./... && "$staticcheck" ./... && go mod tidy -diff)
(cd loadgen/apiserver/controlplane && go vet ./... && go mod tidy -diff)

#!/usr/bin/env bash
# Checks what a reviewer should not have to: format, vet (of a library that
# others build, for 32 bits too), staticcheck, a tidy go.mod.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -- '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not gofmt-clean, run gofmt -w on:\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet ./...
GOARCH=386 go vet ./impl/... ./loadgen/... # words of 32 bits, and the code without assembly
go tool staticcheck ./...
go mod tidy -diff

# Modules of their own, so that the main one stays light. Staticcheck is the main
# module's tool; for the 140 lines of the control plane it would read all of
# Kubernetes, which takes minutes.
staticcheck=$(go tool -n staticcheck)
(cd loadgen/apiserver && go vet ./... && "$staticcheck" ./... && go mod tidy -diff)
(cd loadgen/apiserver/controlplane && go vet ./... && go mod tidy -diff)

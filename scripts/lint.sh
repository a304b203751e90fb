#!/usr/bin/env bash
# Checks what a reviewer should not have to: format, vet, staticcheck, a tidy go.mod.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -- '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'not gofmt-clean, run gofmt -w on:\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet ./...
go tool staticcheck ./...
go mod tidy -diff

# Modules of their own, so that the main one stays light. Staticcheck is the main
# module's tool.
staticcheck=$(go tool -n staticcheck)
for module in loadgen/apiserver loadgen/apiserver/controlplane; do
  (cd "$module" && go vet ./... && "$staticcheck" ./... && go mod tidy -diff)
done

#!/usr/bin/env bash
# Runs the tests under the race detector: all of the library, and each package of
# the suite that starts goroutines or shares memory between them.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each sample is a process, and at the end of each the detector would wait a second.
export GORACE=atexit_sleep_ms=10
mapfile -t concurrent < <(git grep -lE '^\s*go (func|[a-z])|"sync|errgroup"' -- '*.go' ':!*_test.go' ':!impl' ':!bench/peers' ':!loadgen/apiserver' ':!*/testdata/*' |
  xargs -n 1 dirname | sort -u | sed 's,^,./,')
[ "${#concurrent[@]}" -gt 0 ]
go test -timeout 30m -race "${concurrent[@]}"

# What is skipped starts programs without the detector, or holds the suites against
# planted faults, whose clauses run here on every variant: make test has done both.
cd impl
go test -timeout 30m -race -skip '^Test(Upstream(Queue|Cache|Priority)Tests|ImportLiftsNothing|Weight|Planted[A-Za-z]*|InformerFaults)$' ./...

#!/usr/bin/env bash
# Fuzzes every target of the module, the given time in all (default 30s).
# usage: scripts/fuzz.sh [DURATION]     DURATION in whole seconds: 30s, 600s
set -euo pipefail
cd "$(dirname "$0")/.."

total=${1:-30s}
if ! [[ $total =~ ^[0-9]+s$ ]]; then
  echo "error: DURATION is \"$total\", expected whole seconds such as 30s" >&2
  exit 2
fi
mapfile -t targets < <(git grep -hoE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | sed 's/^func //' | sort)
mapfile -t files < <(git grep -lE '^func Fuzz' -- '*_test.go' | sort)
each=$(( ${total%s} / (${#targets[@]} > 0 ? ${#targets[@]} : 1) ))
[ "$each" -gt 0 ] || each=1
count=0
for file in "${files[@]}"; do
  while read -r target; do
    echo "--- $target (./$(dirname "$file"), ${each}s)"
    go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "${each}s" -fuzzminimizetime 100x
    count=$((count + 1))
  done < <(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/^func //')
done
echo "fuzzed $count targets for ${each}s each"
[ "$count" -gt 0 ]

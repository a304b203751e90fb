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
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz PACKAGE TARGET fails if an input does, or if anything else does but for the
# end of the time, which Go before 1.27 may take for a failure (golang/go#75804).
fuzz() {
  if go test -C "$1" . -run '^$' -fuzz "^$2\$" -fuzztime "${each}s" -fuzzminimizetime 100x 2>&1 | tee "$log"; then
    return
  fi
  grep -qx ' *context deadline exceeded' "$log" && ! grep -qE 'Failing input|panic|seed corpus' "$log" || return 1
  echo "the time ended during an input (golang/go#75804): no input failed"
}

for file in "${files[@]}"; do
  while read -r target; do
    echo "--- $target (./$(dirname "$file"), ${each}s)"
    fuzz "./$(dirname "$file")" "$target"
    count=$((count + 1))
  done < <(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/^func //')
done
echo "fuzzed $count targets for ${each}s each"
[ "$count" -gt 0 ]

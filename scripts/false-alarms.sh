#!/usr/bin/env bash
# Counts how often scripts/compare-revisions.sh cries wolf, and what it misses: it compares
# commits that change comments only, and commits that give one benchmark 10 % more to do.
# usage: scripts/false-alarms.sh [COMMENTS [SLOWER [CONDITION]]]
#   COMMENTS   comparisons of commits that change comments (default 200)
#   SLOWER     comparisons of commits that make a benchmark slower (default 10)
#   CONDITION  what else the machine does meanwhile (default nothing)
# What was compared is kept in reports/out/false-alarms.log, to which the next call adds, and
# reports/results/false-alarms.md shows all of it. Ctrl-C loses nothing. SEED draws the
# commits. ROUNDS (default 10) and SLOWER_ROUNDS (default 100, which takes less than a minute)
# are the --rounds of both.
case ${1:-} in -h | --help) sed -n '2,/^case/{/^case/d;s/^# \?//p}' "$0" && exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
comments=${1:-200} slower=${2:-10} condition=${3:-nothing}
seed=${SEED:-$(date +%s)} rounds=${ROUNDS:-10} longer=${SLOWER_ROUNDS:-100}
compare=$PWD/scripts/compare-revisions.sh log=$PWD/reports/out/false-alarms.log page=$PWD/reports/results/false-alarms.md
here=$(git describe --always --dirty --exclude '*')
temp=$(mktemp -d)
mkdir -p reports/out
touch "$log"

# A line of the log: condition, comments or slower, the benchmark with more to do, exit code,
# seconds, the benchmarks that the gate named. rows PRINTS: what awk makes of the lines
rows() { awk -F '\t' "$1" "$log"; }

# write: the page
write() {
  [ -s "$log" ] || return 0
  cat >"$page" <<EOF
# How often a comparison of two revisions cries wolf

\`scripts/compare-revisions.sh --fail-on 'time>5%' BASE HEAD\`, of a module with four benchmarks of 15 ms each, on commits
that change comments only ($rounds rounds), and on commits that give one benchmark a tenth more to do ($longer rounds). Seconds hold
the builds of both revisions.

| what else the machine does | comments changed | false alarms | a tenth more | found | another named | seconds, median and most |
|---|--:|--:|--:|--:|--:|---|
$(rows '{print $1}' | sort -u | while read -r which; do
    rows '$1 == "'"$which"'" {print $5}' | sort -n | awk '{s[NR] = $1} END {printf "%s and %s\n", s[int((NR + 1) / 2)], s[NR]}' >"$temp/times"
    rows '$1 == "'"$which"'" {n[$2]++; if ($2 == "comments") a += $4; else {f += $4 && index($6, $3) > 0; o += $4 && $6 != $3}}
      END {printf "| '"$which"' | %d | %d | %d | %d | %d | ", n["comments"], a, n["slower"], f, o}'
    echo "$(cat "$temp/times") |"
  done)

What the gate named, where it did or should have:

| what else the machine does | commit | benchmark | named | seconds |
|---|---|---|---|--:|
$(rows '$4 == 1 || $2 == "slower" {printf "| %s | %s | %s | %s | %s |\n", $1, $2 == "comments" ? "comments" : "a tenth more", $3, $6, $5}')

## Where this comes from

| | |
|---|---|
| Last command | SEED=$seed scripts/false-alarms.sh $comments $slower "$condition" |
| Ended | $(date -u '+%F %T UTC') |
| CPU | $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores |
| Go | $(go env GOVERSION) |
| Revision | $here |
EOF
  echo "wrote $page" >&2
}
trap 'write; rm -rf -- "$temp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

go build -trimpath -o "$temp/benchrun" ./cmd/benchrun
export BENCHRUN=$temp/benchrun
mkdir "$temp/module"
cd "$temp/module"
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
git init -q .
printf 'module example.com/module\n\ngo 1.25\n' >go.mod
names=(Map Sort JSON Channel)
RANDOM=$((seed % 32768))

# module PLANTED LINES: a module whose comments have LINES, and whose benchmark PLANTED has
# a tenth more to do
module() {
  local name
  for name in "${names[@]}"; do printf '%s' "${name}Work = "; [ "$name" = "$1" ] && echo 22 || echo 20; done >"$temp/work"
  {
    cat <<'EOF'
package module

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
)

EOF
    printf 'const (\n%s\n)\n\n' "$(sed 's/^/\t/' "$temp/work")"
    for ((line = 0; line < $2; line++)); do echo "// Sentence $line of a comment, $RANDOM."; done
    cat <<'EOF'
func BenchmarkMap(b *testing.B) {
	for b.Loop() {
		for range MapWork {
			m := map[string]int{}
			for i := range 100 {
				m[strconv.Itoa(i)] = i
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	list := make([]int, 500)
	for b.Loop() {
		for range SortWork {
			for i := range list {
				list[i] = i * 7919 % 503
			}
			slices.Sort(list)
		}
	}
}

EOF
    for ((line = 0; line < $2; line++)); do echo "// Sentence $line of another comment, $RANDOM."; done
    cat <<'EOF'
func BenchmarkJSON(b *testing.B) {
	value := map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "a", "labels": []string{"b", "c"}}}
	for b.Loop() {
		for range JSONWork {
			if _, err := json.Marshal(value); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkChannel(b *testing.B) {
	to, back := make(chan int), make(chan int)
	defer close(to)
	go func() {
		for i := range to {
			back <- i
		}
	}()
	for b.Loop() {
		for i := range ChannelWork {
			to <- i
			<-back
		}
	}
}
EOF
  } >module_test.go
  gofmt -w module_test.go
}

# shellcheck disable=SC2016 # the shell of each sample fills it in
sample='[ -x bench.test ] || go test -c -o bench.test .; exec ./bench.test -test.run "^$" -test.bench . -test.benchtime 15ms'
for ((i = 0; i < comments + slower; i++)); do
  kind=comments planted=- n=$rounds
  module "" $((RANDOM % 20 + 1))
  git add -A && git commit -q -m base
  # Those that are slower come among the others, not when the machine has become another.
  if ((slower * (i + 1) / (comments + slower) > slower * i / (comments + slower))); then
    kind=slower planted=${names[RANDOM % 4]} n=$longer
  fi
  module "$planted" $((RANDOM % 20 + 1))
  git commit -q -a --allow-empty -m "$kind"
  begun=$SECONDS code=0
  "$compare" --rounds "$n" --fail-on 'time>5%' --junit "$temp/junit.xml" 'HEAD^' HEAD -- bash -c "$sample" >"$temp/out" 2>"$temp/err" || code=$?
  ((code <= 1)) || { cat "$temp/err" >&2; exit "$code"; }
  named=$(awk '/<testcase/ {name = $0; sub(/.*name="/, "", name); sub(/".*/, "", name)} /<failure/ {print name}' "$temp/junit.xml" | sed -E 's/(-[0-9]+)? .*//' | sort -u | paste -sd, -)
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$condition" "$kind" "$planted" "$code" "$((SECONDS - begun))" "${named:-nothing}" >>"$log"
  echo "$((i + 1)) of $((comments + slower)): $(tail -n 1 "$log")" >&2
done

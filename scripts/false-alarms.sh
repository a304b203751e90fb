#!/usr/bin/env bash
# Counts how often scripts/compare-revisions.sh cries wolf, and what it misses: it compares
# commits that change comments only, and commits that give one benchmark 10 % more to do.
# usage: scripts/false-alarms.sh [COMMENTS [SLOWER [PAGE]]]
#   COMMENTS  comparisons of commits that change comments (default 200)
#   SLOWER    comparisons of commits that make a benchmark slower (default 20)
#   PAGE      the page (default reports/results/false-alarms.md)
# SEED draws the commits. ROUNDS (default 10) and SLOWER_ROUNDS (default 40, which takes less
# than a minute) are the --rounds of both. Ctrl-C writes the page of what was compared so far.
case ${1:-} in -h | --help) sed -n '2,/^case/{/^case/d;s/^# \?//p}' "$0" && exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
comments=${1:-200} slower=${2:-20} page=$PWD/${3:-reports/results/false-alarms.md}
seed=${SEED:-$(date +%s)} rounds=${ROUNDS:-10} longer=${SLOWER_ROUNDS:-40} compare=$PWD/scripts/compare-revisions.sh
here=$(git describe --always --dirty)
temp=$(mktemp -d)
log=$temp/log
: >"$log"

# A line of the log: comments or slower, the benchmark with more to do, the exit code,
# seconds, the benchmarks that the gate named.
# count CONDITION: comparisons of which it is true
count() { awk "$1 {n++} END {print n + 0}" "$log"; }

# write: the page of what was compared so far
write() {
  [ -s "$log" ] || return 0
  local times
  times=$(awk '{print $4}' "$log" | sort -n)
  cat >"$page" <<EOF
# How often a comparison of two revisions cries wolf

The gate failed in $(count '$1 == "comments" && $3 == 1') of $(count '$1 == "comments"') comparisons of a commit that changes comments only. Of $(count '$1 == "slower"') commits that give one
benchmark of four a tenth more to do it found $(count '$1 == "slower" && index($5, $2)'), and named another one beside it in $(count '$1 == "slower" && $5 != "-" && $5 != $2').

A comparison is \`scripts/compare-revisions.sh --rounds N --fail-on 'time>5%' BASE HEAD\`, with the base once more as control,
of a module with four benchmarks of 30 ms each: $rounds rounds for comments, $longer for more to do. It took $(sed -n "$(((($(wc -l <"$log")) + 1) / 2))p" <<<"$times") s (median), its two builds and worktrees
with it, and at most $(tail -n 1 <<<"$times") s.

| commit | comparison | benchmark | what the gate named | seconds |
|---|--:|---|---|--:|
$(awk '$3 == 1 || $1 == "slower" {printf "| %s | %d | %s | %s | %s |\n", $1 == "comments" ? "comments" : "a tenth more to do", NR, $2 == "-" ? "" : $2, $5 == "-" ? "nothing" : $5, $4}' "$log")

## Where this comes from

| | |
|---|---|
| Command | SEED=$seed ROUNDS=$rounds SLOWER_ROUNDS=$longer scripts/false-alarms.sh $comments $slower |
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
sample='[ -x bench.test ] || go test -c -o bench.test .; exec ./bench.test -test.run "^$" -test.bench . -test.benchtime 30ms'
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
  echo "$kind $planted $code $((SECONDS - begun)) ${named:--}" >>"$log"
  echo "$((i + 1)) of $((comments + slower)): $(tail -n 1 "$log")" >&2
done

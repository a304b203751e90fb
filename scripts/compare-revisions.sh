#!/usr/bin/env bash
# Compares the benchmarks of two git revisions of your own module; see --help.
set -euo pipefail

help() {
  cat <<'HELP'
Compares the benchmarks of two git revisions of the module in the current folder.

Each revision is checked out into a temporary worktree, so nothing changes in
place. The command runs twice a round on each, in turns: what a revision differs by
from itself is the noise floor. benchrun compare then tells what changed.

usage: scripts/compare-revisions.sh [FLAGS] BASE HEAD [-- COMMAND...]

  COMMAND          prints the Go benchmark format
                   (default go test -run ^$ -bench . -benchmem ./...)
  --rounds N       rounds, of two runs on each (default 10)
  --out DIR        keep base.txt and head.txt there, new or empty, also when
                   it is interrupted
  --fail-on EXPR, --markdown FILE, --junit FILE, --annotate SYSTEM, -o FORMAT
                   as for benchrun compare

examples:
  scripts/compare-revisions.sh main HEAD
  scripts/compare-revisions.sh --fail-on 'time>5%,allocs>0' origin/main HEAD \
    -- go test -run '^$' -bench Queue -benchtime 100ms -benchmem ./queue

BENCHRUN names the benchrun to use (default the one in PATH, or else the one this
script lies beside). Exit codes: 0 fine, 1 the gate failed, 2 anything else.
HELP
}

fail() { # fail MESSAGE
  echo "error: $1" >&2
  exit 2
}

rounds=10 out='' gate=() revisions=() command=()
while [ $# -gt 0 ]; do
  case $1 in
  -h | --help) help; exit 0 ;;
  --) shift; command=("$@"); [ $# -gt 0 ] || fail "found nothing after --, expected a command"; break ;;
  --rounds | --out | --fail-on | --markdown | --junit | --annotate | -o | --output)
    [ $# -gt 1 ] || fail "$1: found nothing, expected a value"
    case $1 in
    --rounds) rounds=$2 ;;
    --out) out=$2 ;;
    *) gate+=("$1" "$2") ;;
    esac
    shift 2 ;;
  --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
  -*) fail "unknown flag $1 (see --help)" ;;
  *) revisions+=("$1"); shift ;;
  esac
done
[ "${#revisions[@]}" -ne 1 ] || fail "found 1 revision, expected BASE HEAD (see --help)"
[ "${#revisions[@]}" -eq 2 ] || fail "found ${#revisions[@]} revisions, expected BASE HEAD (see --help)"
[[ $rounds =~ ^[1-9][0-9]{0,3}$ ]] || fail "--rounds: found \"$rounds\", expected a number from 1 to 9999"
[ "${#command[@]}" -gt 0 ] || command=(go test -run '^$' -bench . -benchmem ./...)
folder=$(git rev-parse --show-prefix 2>/dev/null) || fail "$PWD is not in a git repository"
commits=()
for revision in "${revisions[@]}"; do
  commit=$(git rev-parse --verify --quiet --end-of-options "$revision^{commit}") || fail "unknown revision \"$revision\""
  commits+=("$commit")
done
if [ -n "$out" ]; then
  mkdir -p -- "$out"
  [ -z "$(ls -A -- "$out")" ] || fail "--out: $out is not empty, expected a new or empty directory"
fi

temp=$(mktemp -d)
samples=${out:-$temp} # at once where they are kept, should the last round never come
cleanup() {
  trap - EXIT
  for side in base head; do
    [ ! -e "$temp/$side" ] || git worktree remove --force "$temp/$side" || true
  done
  rm -rf -- "$temp" # no prune: it would forget worktrees on disks that are not mounted
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

benchrun=${BENCHRUN:-$(command -v benchrun || true)}
if [ -z "$benchrun" ]; then
  benchrun=$temp/benchrun
  (cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && go build -o "$benchrun" ./cmd/benchrun) ||
    fail "can't build benchrun: name one in BENCHRUN"
fi

# Hooks of the repository are for people who check out, not for this.
git -c core.hooksPath=/dev/null worktree add --quiet --detach "$temp/base" "${commits[0]}"
git -c core.hooksPath=/dev/null worktree add --quiet --detach "$temp/head" "${commits[1]}"
for side in base head; do
  [ -d "$temp/$side/$folder" ] || fail "$side has no folder $folder"
done

# sample SIDE: one run of the command, into text
sample() {
  text=$(cd -- "$temp/$1/$folder" && "${command[@]}" 2>"$temp/log") || {
    { echo "$text" && cat "$temp/log"; } | tail -n 20 >&2
    fail "the command failed on $1: ${command[*]}"
  }
  [[ $'\n'$text == *$'\n'Benchmark* ]] || fail "the command printed no benchmark on $1: ${command[*]}"
}

# The order turns with the rounds, so that none always runs on a warmer machine. The control
# is the second sample of a round, then the first, so that no drift makes it differ.
orders=("base head head base" "head base base head")
for ((round = 0; round < rounds; round++)); do
  echo "round $((round + 1)) of $rounds" >&2
  for side in base head; do echo "# round $round" >>"$samples/$side.txt"; done
  seen=''
  for side in ${orders[round % 2]}; do
    sample "$side"
    second=0
    [[ $seen != *$side* ]] || second=1
    if ((second != round % 2)); then
      # BenchmarkX-8 becomes BenchmarkX-again-8, which benchrun takes as the control.
      text=$(sed -E -e 's/^(Benchmark[^[:space:]]*)(-[0-9]+)([[:space:]])/\1-again\2\3/' -e t \
        -e 's/^(Benchmark[^[:space:]]*)([[:space:]])/\1-again\2/' <<<"$text")
    fi
    echo "$text" >>"$samples/$side.txt"
    seen+=" $side"
  done
done
code=0
"$benchrun" compare --paired "$samples/base.txt" "$samples/head.txt" ${gate[@]+"${gate[@]}"} || code=$?
exit "$code"

package lab

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment"
)

// A Shard is one of Count parts of a plan: its cases Index, Index+Count, … in
// the plan's order, counted from 1. Each case is whole, with all its arms, so
// what the parts find can be put together.
type Shard struct{ Index, Count int }

// ParseShard reads "2/5", or "5" alone where completion, which Kubernetes gives
// to each pod of an Indexed Job, counts from 0.
func ParseShard(text, completion string) (Shard, error) {
	var s Shard
	index, count, whole := strings.Cut(text, "/")
	if !whole {
		index, count = "", text
	}
	var err error
	if s.Count, err = strconv.Atoi(count); err != nil || s.Count < 1 {
		return s, fmt.Errorf("found %q, expected INDEX/COUNT as in 2/5, or COUNT alone in an Indexed Job", text)
	}
	switch {
	case whole:
		s.Index, err = strconv.Atoi(index)
	case completion == "":
		return s, fmt.Errorf("found %q, and JOB_COMPLETION_INDEX is not set: expected INDEX/COUNT as in 1/%s", text, count)
	default:
		index = completion
		s.Index, err = strconv.Atoi(completion)
		s.Index++
	}
	if err != nil || s.Index < 1 || s.Index > s.Count {
		return s, fmt.Errorf("found index %q of %d shards, expected 1 to %d (JOB_COMPLETION_INDEX counts from 0)", index, s.Count, s.Count)
	}
	return s, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

func (s Shard) of(cases []experiment.PlannedCase) []experiment.PlannedCase {
	var part []experiment.PlannedCase
	for i := s.Index - 1; i < len(cases); i += s.Count {
		part = append(part, cases[i])
	}
	return part
}

package loadgen

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// The values of the spec's enumerated fields; the first is the default.
const (
	kindPod      = "pod"
	kindMetadata = "metadata"

	skewUniform = "uniform"
	skewZipf    = "zipf"
	skewHotset  = "hotset"

	patternMix         = "mix"
	patternRollout     = "rollout"
	patternNodeFailure = "node-failure"
)

const (
	maxObjects = 10_000_000
	maxEvents  = 2_000_000_000
	maxRate    = 1_000_000_000
)

// validate fills in the defaults and reports the first field that is out of range.
func (s *Spec) validate() error {
	for _, check := range []func(*Spec) error{checkObjects, checkSkew, checkPattern, checkLength} {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

func checkObjects(s *Spec) error {
	o := &s.Objects
	if err := oneOf("objects.kind", &o.Kind, kindPod, kindMetadata); err != nil {
		return err
	}
	if err := within("objects.count", &o.Count, 0, maxObjects); err != nil {
		return err
	}
	if err := within("objects.namespaces", &o.Namespaces, 1, 1_000_000); err != nil {
		return err
	}
	if err := within("objects.replicas", &o.Replicas, 20, maxObjects); err != nil {
		return err
	}
	return within("objects.nodes", &o.Nodes, (o.Count+29)/30, 1_000_000)
}

func checkSkew(s *Spec) error {
	k := &s.Objects.Skew
	if err := oneOf("objects.skew.kind", &k.Kind, skewUniform, skewZipf, skewHotset); err != nil {
		return err
	}
	fields := []struct {
		path  string
		value float64
		kind  string
		max   float64
	}{
		{"objects.skew.s", k.S, skewZipf, 10},
		{"objects.skew.fraction", k.Fraction, skewHotset, 1},
		{"objects.skew.share", k.Share, skewHotset, 1},
	}
	for _, f := range fields {
		switch {
		case f.kind != k.Kind && f.value != 0:
			return fault(f.path, "found %v with kind %s, expected it with kind %s only", f.value, k.Kind, f.kind)
		case f.kind == k.Kind && !(f.value > 0 && f.value <= f.max):
			return fault(f.path, "%s, expected a number above 0 and up to %v", found(f.value), f.max)
		}
	}
	return nil
}

func checkPattern(s *Spec) error {
	e := &s.Events
	if err := oneOf("events.pattern", &e.Pattern, patternMix, patternRollout, patternNodeFailure); err != nil {
		return err
	}
	weights := []float64{e.Mix.Add, e.Mix.Update, e.Mix.Delete}
	if e.Pattern == patternMix {
		for i, name := range []string{"add", "update", "delete"} {
			if !(weights[i] >= 0 && weights[i] <= 1e9) {
				return fault("events.mix."+name, "found %v, expected a weight from 0 to 1e9", weights[i])
			}
		}
		if e.Mix == (Mix{}) {
			return fault("events.mix", "no weights, expected at least one of add, update and delete above 0")
		}
		if e.Mix.Add == 0 && e.Mix.Delete > 0 {
			return fault("events.mix.add", "found 0 with deletes, expected a weight above 0 or the objects run out")
		}
		if e.Parallel != 0 {
			return fault("events.parallel", "found %d with pattern mix, expected it with rollout or node-failure only", e.Parallel)
		}
		return nil
	}
	if e.Mix != (Mix{}) {
		return fault("events.mix", "found weights with pattern %s, expected them with pattern mix only", e.Pattern)
	}
	most := deployments(s)
	if e.Pattern == patternNodeFailure {
		// Half of the nodes must stay up to take the pods of the others.
		most = s.Objects.Nodes / 2
		if most == 0 {
			return fault("objects.nodes", "found %d with pattern node-failure, expected at least 2", s.Objects.Nodes)
		}
	}
	return within("events.parallel", &e.Parallel, 1, most)
}

func checkLength(s *Spec) error {
	e := &s.Events
	if !(e.Rate >= 0 && e.Rate <= maxRate) {
		return fault("events.rate", "found %v, expected events a second from 0 (as fast as possible) to %d", float64(e.Rate), maxRate)
	}
	switch {
	case e.Count == 0 && e.Duration == 0:
		return fault("events", "no length, expected count or duration above 0")
	case e.Count != 0 && e.Duration != 0:
		return fault("events.duration", "given beside count, expected one of them")
	case e.Duration != 0 && e.Rate == 0:
		return fault("events.duration", "given without a rate, expected events.rate, or events.count in its place")
	case e.Duration < 0:
		return fault("events.duration", "found %v, expected more than 0", e.Duration)
	case e.Count == 0 && float64(e.Rate)*e.Duration.Seconds() > maxEvents:
		return fault("events.duration", "found %v at %v events/s, expected at most %d events", e.Duration, float64(e.Rate), maxEvents)
	case e.Count != 0:
		return within("events.count", &e.Count, 0, maxEvents)
	}
	return nil
}

// length is the number of events after the initial population.
func (e Events) length() int {
	if e.Count > 0 {
		return e.Count
	}
	n := int(float64(e.Rate) * float64(e.Duration) / float64(time.Second))
	return max(1, n)
}

func deployments(s *Spec) int {
	return (s.Objects.Count + s.Objects.Replicas - 1) / s.Objects.Replicas
}

// oneOf checks an enumerated field, whose default is the first of the values.
func oneOf(path string, value *string, values ...string) error {
	if *value == "" {
		*value = values[0]
	}
	if !slices.Contains(values, *value) {
		return fault(path, "unknown value %s, expected %s", strconv.Quote(*value), choice(values))
	}
	return nil
}

// within checks a whole number from 1 to most; a default of 0 means that the
// field is required.
func within(path string, value *int, byDefault, most int) error {
	if *value == 0 {
		*value = byDefault
	}
	if *value < 1 || *value > most {
		return fault(path, "%s, expected a whole number from 1 to %d", found(*value), most)
	}
	return nil
}

func found[N int | float64](value N) string {
	if value == 0 {
		return "missing or 0"
	}
	return fmt.Sprintf("found %v", value)
}

func fault(path, format string, args ...any) error {
	return &fieldError{path: path, problem: fmt.Sprintf(format, args...)}
}

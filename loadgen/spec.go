// Package loadgen makes the watch events that drive the variants. Its steps, in order:
//
//  1. A [Spec] says what happens: how many objects, which events, how skewed,
//     how fast. It is a preset ([Presets]) or a YAML file; [Open] takes either.
//  2. Distributions (skew.go) draw keys from the spec's seed.
//  3. The generator (generate.go, replace.go, pod.go) turns the draws into a
//     [Stream] of events on realistic pods. The same spec gives the same
//     events, byte for byte.
//  4. A [Rate] paces it open-loop: each event carries the time at which it is
//     due, whether or not the consumer keeps up.
//
// A recording takes the place of 1 to 3: package trace reads what kubectl printed
// or a recorder wrote, in any of the forms found in the wild, as the same
// [Stream].
package loadgen

import "time"

// A Spec describes a workload: a population of pods and what happens to it.
// The zero value of an optional field means its default.
type Spec struct {
	Name        string  `yaml:"name"`
	Description string  `yaml:"description"`
	Source      string  `yaml:"source"` // the published figure it models
	Seed        uint64  `yaml:"seed"`
	Objects     Objects `yaml:"objects"`
	Events      Events  `yaml:"events"`
}

// Objects is the population at the begin and how its objects look.
type Objects struct {
	Kind          string `yaml:"kind"`          // "pod" (default), or "metadata": PartialObjectMetadata as a metadata informer holds
	Count         int    `yaml:"count"`         // objects alive at the begin
	Namespaces    int    `yaml:"namespaces"`    // default 1
	Nodes         int    `yaml:"nodes"`         // default one for 30 objects
	Replicas      int    `yaml:"replicas"`      // objects a deployment, default 20
	ManagedFields bool   `yaml:"managedFields"` // default true in YAML: 41 % of a recorded pod's 6.5 KB
	Skew          Skew   `yaml:"skew"`
}

// A Skew says how unequally the objects (or the deployments that roll, or the
// nodes that fail) are chosen.
type Skew struct {
	Kind     string  `yaml:"kind"`     // "uniform" (default), "zipf" or "hotset"
	S        float64 `yaml:"s"`        // zipf: the k-th key is chosen in proportion to 1/k^s
	Fraction float64 `yaml:"fraction"` // hotset: this fraction of the keys ...
	Share    float64 `yaml:"share"`    // ... takes this share of the choices
}

// Events is what happens to the population.
type Events struct {
	Pattern  string        `yaml:"pattern"`  // "mix" (default), "rollout" or "node-failure"
	Mix      Mix           `yaml:"mix"`      // pattern mix: the weights of the event types
	Parallel int           `yaml:"parallel"` // other patterns: deployments rolled, or nodes failing, at the same time; default 1
	Rate     Rate          `yaml:"rate"`     // events a second; 0 means as fast as possible
	Count    int           `yaml:"count"`    // events after the initial population, or ...
	Duration time.Duration `yaml:"duration"` // ... how long they go on at the rate
}

// A Mix holds relative weights; {0, 1, 0} means updates only.
type Mix struct {
	Add    float64 `yaml:"add"`
	Update float64 `yaml:"update"`
	Delete float64 `yaml:"delete"`
}

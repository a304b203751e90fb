// Package advice is what is known of each queue and recommended for it, in words and tables.
// Its steps, in order:
//
//  1. [Describe] puts the load that explains a measurement into words (load.go), [Reproduce]
//     lays what the model makes of it beside the measurement (reproduction.go).
//  2. An [Advice] holds them, the current and the recommended settings, what package predict
//     predicted for both and for others that somebody has in mind ([Advice.PredictWhatIf]), and
//     what package search found.
//  3. [Advice.Explain] says what binds and what to do (explain.go), why each setting changes or
//     stays (table.go), how far the data carry it (vague.go), and what to paste (paste.go).
//  4. A [Result] is of all queues. [Effects] are its figures as text.
package advice

import (
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
)

// SchemaVersion is of tune.json. It grows when a field changes its meaning or
// goes away.
const SchemaVersion = 2

// A Result is what is known of each queue and recommended for it.
type Result struct {
	Schema     int                `json:"schema"`
	Source     string             `json:"source"` // what was read, for people
	Flavour    string             `json:"flavour"`
	Seed       uint64             `json:"seed"`
	Objectives []search.Objective `json:"objectives"`
	Stopped    string             `json:"stopped"` // why the search ended: "complete", "budget" or "interrupted"
	Queues     []Advice           `json:"queues"`  // the busiest first
	Idle       []string           `json:"idle"`    // queues that added nothing
	Notes      []string           `json:"notes"`   // what concerns all queues
	Paste      []Snippet          `json:"paste"`   // for all queues together, of kube-controller-manager
}

// Join puts the advice on a replica, whose queues get its name, behind that on others.
func (r *Result) Join(others *Result, replica string) *Result {
	if replica == "" {
		return r
	}
	for i := range r.Queues {
		r.Queues[i].Queue = replica + " " + r.Queues[i].Queue
	}
	for i := range r.Idle {
		r.Idle[i] = replica + " " + r.Idle[i]
	}
	r.Paste = nil // each has flags of its own, which may not be alike
	if others == nil {
		return r
	}
	others.Queues, others.Idle = append(others.Queues, r.Queues...), append(others.Idle, r.Idle...)
	for _, n := range r.Notes {
		if !slices.Contains(others.Notes, n) {
			others.Notes = append(others.Notes, n)
		}
	}
	if others.Stopped == "complete" {
		others.Stopped = r.Stopped
	}
	return others
}

// Advice is of one queue. If it was refused, only the first fields are filled in.
type Advice struct {
	Queue   string `json:"queue"`
	Refused string `json:"refused,omitempty"` // why the data can't carry advice
	Record  string `json:"record,omitempty"`  // what to record instead

	Summary      string            `json:"summary"`         // one sentence
	Bottleneck   string            `json:"bottleneck"`      // one sentence on what binds
	Quiet        bool              `json:"quiet,omitempty"` // so little is to do that no other settings were looked for
	Unstable     string            `json:"unstable,omitempty"`
	Impossible   []string          `json:"impossible,omitempty"` // objectives out of reach, and the nearest possible
	Unmet        []string          `json:"unmet,omitempty"`      // objectives that nothing keeps that was found before the search ended early, and the nearest found
	Model        *predict.Model    `json:"model,omitempty"`
	Reproduction *Reproduction     `json:"reproduction,omitempty"` // none for a spec or a recording
	Current      predict.Current   `json:"current"`
	Recommended  predict.Settings  `json:"recommended"`
	Now          *predict.Figures  `json:"now,omitempty"`    // predicted for Current
	Then         *predict.Figures  `json:"then,omitempty"`   // predicted for Recommended
	WhatIf       []WhatIf          `json:"whatIf,omitempty"` // what was asked for
	Changes      []SettingAdvice   `json:"changes"`
	Pareto       []search.Tradeoff `json:"pareto"` // of what was tried: nothing else is both cheaper and faster
	Curves       []search.Curve    `json:"curves"`
	Unidentified []string          `json:"unidentified"` // what the data can't tell
	Doubts       []string          `json:"doubts"`
	Paste        []Snippet         `json:"paste"`
}

// Changed are the settings that change.
func (a Advice) Changed() []SettingAdvice {
	return slices.DeleteFunc(slices.Clone(a.Changes), func(c SettingAdvice) bool { return !c.Changed })
}

// A SettingAdvice is a row of the table: every setting, changed or not.
type SettingAdvice struct {
	Setting     string `json:"setting"` // its name in a settings file
	Title       string `json:"title"`   // for people
	Current     string `json:"current"`
	Told        string `json:"told"` // where the current value is known from
	Recommended string `json:"recommended"`
	Changed     bool   `json:"changed"`
	Why         string `json:"why"`
}

// Progress tells what is being done.
type Progress struct {
	Elapsed, Left time.Duration
	Doing         string
}

package tune

import (
	"slices"
	"time"
)

// SchemaVersion is of tune.json. It grows when a field changes its meaning or
// goes away.
const SchemaVersion = 2

// A Result is what is known of each queue and recommended for it.
type Result struct {
	Schema     int         `json:"schema"`
	Source     string      `json:"source"` // what was read, for people
	Flavour    string      `json:"flavour"`
	Seed       uint64      `json:"seed"`
	Objectives []Objective `json:"objectives"`
	Stopped    string      `json:"stopped"` // why the search ended: "complete", "budget" or "interrupted"
	Queues     []Advice    `json:"queues"`  // the busiest first
	Idle       []string    `json:"idle"`    // queues that added nothing
	Notes      []string    `json:"notes"`   // what concerns all queues
	Paste      []Snippet   `json:"paste"`   // for all queues together, of kube-controller-manager
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

	Summary      string          `json:"summary"`         // one sentence
	Bottleneck   string          `json:"bottleneck"`      // one sentence on what binds
	Quiet        bool            `json:"quiet,omitempty"` // so little is to do that no other settings were looked for
	Unstable     string          `json:"unstable,omitempty"`
	Impossible   []string        `json:"impossible,omitempty"` // objectives out of reach, and the nearest possible
	Unmet        []string        `json:"unmet,omitempty"`      // objectives that nothing keeps that was found before the search ended early, and the nearest found
	Model        *Model          `json:"model,omitempty"`
	Reproduction *Reproduction   `json:"reproduction,omitempty"` // none for a spec or a recording
	Current      Current         `json:"current"`
	Recommended  Settings        `json:"recommended"`
	Now          *Figures        `json:"now,omitempty"`    // predicted for Current
	Then         *Figures        `json:"then,omitempty"`   // predicted for Recommended
	WhatIf       []WhatIf        `json:"whatIf,omitempty"` // what was asked for
	Changes      []SettingAdvice `json:"changes"`
	Pareto       []Tradeoff      `json:"pareto"` // of what was tried: nothing else is both cheaper and faster
	Curves       []Curve         `json:"curves"`
	Unidentified []string        `json:"unidentified"` // what the data can't tell
	Doubts       []string        `json:"doubts"`
	Paste        []Snippet       `json:"paste"`
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

// A Tradeoff is what some settings cost and bring.
type Tradeoff struct {
	Settings  Settings `json:"settings"`
	Cost      float64  `json:"cost"`
	WaitP99   float64  `json:"waitP99"`   // seconds
	SettleP99 float64  `json:"settleP99"` // seconds
	CallRate  float64  `json:"callRate"`
}

// A Curve is what becomes of the recommended settings if one of them varies.
type Curve struct {
	Setting string       `json:"setting"`
	Title   string       `json:"title"`
	Points  []CurvePoint `json:"points"`
}

// A CurvePoint is one value of the setting that varies. In JSON its figures are null if
// it is not stable.
type CurvePoint struct {
	Value       string   `json:"value"`
	Chosen      bool     `json:"chosen"` // it is the recommended one
	Stable      bool     `json:"stable"`
	WaitP99     Interval `json:"waitP99"`
	SettleP99   Interval `json:"settleP99"`
	Utilisation float64  `json:"utilisation"`
	CallRate    float64  `json:"callRate"`
	QueueCores  float64  `json:"queueCores"`
}

// Progress tells what is being done.
type Progress struct {
	Elapsed, Left time.Duration
	Doing         string
}

package tune

import (
	"context"
	"fmt"
	"math"
)

// An Alternative is a change of the current settings that somebody has in mind.
type Alternative struct {
	Text   string // for people
	Change func(*Settings)
}

// A WhatIf is what is predicted for the current settings after such a change.
type WhatIf struct {
	Text    string   `json:"text"`              // of the Alternative
	Refused string   `json:"refused,omitempty"` // why nothing can be predicted
	Figures *Figures `json:"figures,omitempty"` // none if it was refused or the search ended before
}

// of are the settings after the change. A client that had no limit gets the usual burst,
// and retries that had no bucket client-go's; without limit or bucket there is no burst.
func (x Alternative) of(s Settings) Settings {
	x.Change(&s)
	switch {
	case s.QPS == 0:
		s.Burst = 0
	case s.Burst == 0:
		s.Burst = int(math.Ceil(1.5 * s.QPS))
	}
	switch {
	case s.BucketRate == 0:
		s.BucketBurst = 0
	case s.BucketBurst == 0:
		s.BucketBurst = defaultSettings().BucketBurst
	}
	return s
}

// check reports the first setting that makes no sense, now or after a change.
func (c Current) check(o Options) error {
	if err := c.Check(o.Queues); err != nil {
		return err
	}
	for _, x := range o.WhatIf {
		if err := x.of(c.Settings).Check(o.Queues); err != nil {
			return fmt.Errorf("what if %s: %w", x.Text, err)
		}
	}
	return nil
}

// whatIf predicts the alternatives.
func (a *Advice) whatIf(ctx context.Context, m *Model, o Options, progress func(string)) error {
	a.WhatIf = make([]WhatIf, len(o.WhatIf))
	for i, x := range o.WhatIf {
		a.WhatIf[i] = WhatIf{Text: x.Text, Refused: m.silent(a.Current.Settings, x.of(a.Current.Settings))}
	}
	for i, x := range o.WhatIf {
		if a.WhatIf[i].Refused != "" {
			continue
		}
		progress("what if " + x.Text)
		f, err := m.predict(ctx, x.of(a.Current.Settings), finest, o.Seed+1)
		if err != nil {
			return err
		}
		a.WhatIf[i].Figures = &f
	}
	return nil
}

// silent says why the model tells nothing about a change; nothing if it does.
func (m *Model) silent(from, to Settings) string {
	for _, f := range fields {
		if f.text(from) == f.text(to) {
			continue
		}
		switch f.name {
		case "qps", "burst":
			if !m.calling() {
				return noCalls
			}
		case "resync", "batch", "priority", "split":
			if why := m.untold(f.name); why != "" {
				return why
			}
		}
	}
	return ""
}

package advice

import (
	"context"
	"math"

	"github.com/informerbench/informerbench/bench/tune/predict"
)

// An Alternative is a change of the current settings that somebody has in mind.
type Alternative struct {
	Text   string // for people
	Change func(*predict.Settings)
}

// A WhatIf is what is predicted for the current settings after such a change.
type WhatIf struct {
	Text    string           `json:"text"`              // of the Alternative
	Refused string           `json:"refused,omitempty"` // why nothing can be predicted
	Figures *predict.Figures `json:"figures,omitempty"` // none if it was refused or the search ended before
}

// Of are the settings after the change. A client that had no limit gets the usual burst,
// and retries that had no bucket client-go's; without limit or bucket there is no burst.
func (x Alternative) Of(s predict.Settings) predict.Settings {
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
		s.BucketBurst = predict.Defaults().BucketBurst
	}
	return s
}

// Ask lists the alternatives, none of them predicted yet.
func (a *Advice) Ask(list []Alternative) {
	a.WhatIf = make([]WhatIf, len(list))
	for i, x := range list {
		a.WhatIf[i] = WhatIf{Text: x.Text, Refused: silent(a.Model, a.Current.Settings, x.Of(a.Current.Settings))}
	}
}

// PredictWhatIf predicts the alternatives by the advice's model, into WhatIf. It fails when the
// context ends, and where the model can't be simulated; what was predicted by then stays.
func (a *Advice) PredictWhatIf(ctx context.Context, list []Alternative, seed uint64, progress func(string)) error {
	a.Ask(list)
	for i, x := range list {
		if a.WhatIf[i].Refused != "" {
			continue
		}
		progress("what if " + x.Text)
		f, err := a.Model.Predict(ctx, x.Of(a.Current.Settings), predict.Finest, seed)
		if err != nil {
			return err
		}
		a.WhatIf[i].Figures = &f
	}
	return nil
}

// silent says why the model tells nothing about a change; nothing if it does.
func silent(m *predict.Model, from, to predict.Settings) string {
	for _, f := range predict.Fields {
		if f.Text(from) == f.Text(to) {
			continue
		}
		switch f.Name {
		case "qps", "burst":
			if !m.Calling() {
				return noCalls
			}
		case "resync", "batch", "priority", "split":
			if why := untold(m, f.Name); why != "" {
				return why
			}
		}
	}
	return ""
}

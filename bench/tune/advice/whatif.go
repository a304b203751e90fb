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
	if s.Burst == 0 || s.QPS == 0 {
		s.Burst = int(math.Ceil(1.5 * s.QPS))
	}
	if s.BucketRate == 0 {
		s.BucketBurst = 0
	} else if s.BucketBurst == 0 {
		s.BucketBurst = predict.Defaults().BucketBurst
	}
	return s
}

// Ask lists the alternatives, none of them predicted yet.
func (a *Advice) Ask(list []Alternative) {
	a.WhatIf = nil
	for _, x := range list {
		what, to := WhatIf{Text: x.Text}, x.Of(a.Current.Settings)
		for _, f := range predict.Fields {
			if what.Refused == "" && f.Text(a.Current.Settings) != f.Text(to) {
				what.Refused = untold(a.Model, f.Name)
			}
		}
		a.WhatIf = append(a.WhatIf, what)
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

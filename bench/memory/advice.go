package memory

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// What a change or a setting must bring to be advised.
const (
	worthwhile  = 0.05    // of the live bytes or of the peak
	dearest     = 1.1     // CPU time of a setting, relative to GOGC=100
	headroom    = 1.1     // of the limit over the highest peak expected
	limitShare  = 0.9     // of the limit that GOMEMLIMIT gets
	wholeMiB    = 8 << 20 // what requests and limits are rounded up to
	mostAdvised = 2
)

// helps says whether a change saves more than chance does.
func helps(c Saving) bool {
	return c.Live.Low > 0 && c.Live.Value >= worthwhile || c.Peak.Low > 0 && c.Peak.Value >= worthwhile
}

// advise marks the changes to make: of those that ask nothing of the program the two
// that save most, but not two ways to the same.
func advise(changes []Saving) {
	n := 0
	for i := range changes {
		c := &changes[i]
		if n < mostAdvised && c.Asks == "" && helps(*c) {
			c.Advised = true
			n++
		}
	}
}

// summary is the one or two changes to make.
func summary(r Result) string {
	var names []string
	var best *Saving
	for i, c := range r.Changes {
		if c.Advised && c.How != "both at once" {
			names = append(names, c.Name)
		}
		if c.Advised && best == nil {
			best = &r.Changes[i]
		}
	}
	if best == nil {
		return fmt.Sprintf("Nothing that suits every program saves a twentieth: %s an object, %s at the peak with %d objects.",
			Bytes(r.PerObject.Value), Bytes(r.Prediction.Peak.Value), r.Objects)
	}
	text := fmt.Sprintf("%s: %s less at rest, %s less at the peak", strings.Join(names, ", then "), wording.Percent(best.Live.Value), wording.Percent(best.Peak.Value))
	if len(names) > 1 && best.How != "both at once" {
		text += " from the first"
	}
	text += fmt.Sprintf(", of %s and %s with %d objects.", Bytes(r.Prediction.Live.Value), Bytes(r.Prediction.Peak.Value), r.Objects)
	for _, c := range r.Changes {
		if c.Name == "metadata only" && helps(c) && c.Live.Value > 2*best.Live.Value {
			text += fmt.Sprintf(" If the program reads only metadata, an informer of that saves %s.", wording.Percent(c.Live.Value))
		}
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// advice chooses the settings that need least among those that cost little.
func (m *measurement) advice(r Result) Advice {
	chosen := Setting{Name: "GOGC=100", GOGC: 100, Peak: Figure{1, 1, 1}, Service: Figure{1, 1, 1}, CPU: Figure{1, 1, 1}}
	for _, s := range r.Settings {
		if s.MemLimit == 0 && s.CPU.Value <= dearest && s.Peak.High < 1 && s.Peak.Value < chosen.Peak.Value {
			chosen = s
		}
	}
	a := Advice{GOGC: chosen.GOGC}
	a.Request = roundUp(r.Prediction.ServiceResident.High * chosen.Service.Value)
	a.Limit = roundUp(r.Prediction.Peak.High * chosen.Peak.Value * headroom)
	a.Limit = max(a.Limit, a.Request)
	a.GOMEMLIMIT = int64(float64(a.Limit) * limitShare)
	a.Why = "The request is the resident set while objects change, the limit the highest peak of start, service and relist and a tenth; both are the upper ends of the intervals, for this process: add what yours takes beside its caches, twice its live bytes."
	if chosen.GOGC == 100 {
		a.Why += " No other GOGC that was tried lowers the peak for at most a tenth more CPU time."
	} else {
		a.Why += fmt.Sprintf(" %s takes %s of the CPU time of GOGC=100.", chosen.Name, wording.Percent(chosen.CPU.Value))
	}
	for _, s := range r.Settings {
		if s.MemLimit > 0 {
			a.Why += fmt.Sprintf(" A GOMEMLIMIT as low as %s of what lives makes the peak %s and the CPU time %s as high.", wording.Percent(defaultLimitFactor), wording.Times(s.Peak.Value), wording.Times(s.CPU.Value))
		}
	}
	return a
}

func roundUp(bytes float64) int64 {
	n := int64(bytes)
	return (n + wholeMiB - 1) / wholeMiB * wholeMiB
}

// Bytes writes bytes to three digits: "1.23 GiB".
func Bytes(n float64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for n >= 1000 && i < len(units)-1 {
		n /= 1024
		i++
	}
	digits := 2
	switch {
	case i == 0 || n >= 99.95:
		digits = 0
	case n >= 9.995:
		digits = 1
	}
	return fmt.Sprintf("%s%.*f %s", sign, digits, n, units[i])
}

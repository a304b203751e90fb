package memory

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// Advised ends the names of changes to make in a [Table].
const Advised = " ◂"

// A Table is a part of a result, for people.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// Tables are what a result says: the changes first.
func (r Result) Tables() []Table {
	tables := []Table{r.changesTable(), r.usageTable(), r.partsTable(), r.settingsTable()}
	if r.Heap != nil {
		tables = append(tables, r.Heap.Table())
	}
	return tables
}

func (r Result) changesTable() Table {
	t := Table{"What would make it less. Savings of what the objects take; ~ is within chance. A peak depends on where collections fall too: its savings are means over numbers of objects, from all down to half as many, and with one of them may be half or twice as large.", []string{"what if", "bytes an object", "at rest", "peak", "CPU of a start", "asks for"}, nil}
	for _, c := range r.Changes {
		name := c.Name
		if c.Advised {
			name += Advised
		}
		t.Rows = append(t.Rows, []string{name, saved(Bytes(c.Bytes.Value), c.Bytes), savedShare(c.Live), savedShare(c.Peak), savedShare(c.CPU), c.Asks})
	}
	return t
}

// saved writes a saving; one that is within chance is told apart.
func saved(text string, f Figure) string {
	if f.Low <= 0 && f.High >= 0 {
		return "~"
	}
	if f.Value > 0 {
		return "-" + text
	}
	return "+" + strings.TrimPrefix(text, "-")
}

func savedShare(f Figure) string { return saved(wording.Percent(f.Value), f) }

func (r Result) usageTable() Table {
	how := "measured"
	if !r.Prediction.Measured {
		how = "extrapolated"
	}
	t := Table{"What the process takes, itself included.", []string{fmt.Sprintf("%d objects, %s", r.Prediction.Objects, how), "expected", "90% of repeats"}, nil}
	p := r.Prediction
	for _, row := range []struct {
		name string
		f    Figure
	}{
		{"lives at rest", p.Live}, {"resident in service", p.ServiceResident}, {"peak at start", p.StartResident},
		{"peak at relist", p.RelistResident}, {"the process without objects", r.BaseRSS}, {"each object more", r.PerObject},
	} {
		interval := "-" // of one reading
		if row.f.Low < row.f.High {
			interval = Bytes(row.f.Low) + " to " + Bytes(row.f.High)
		}
		t.Rows = append(t.Rows, []string{row.name, Bytes(row.f.Value), interval})
	}
	return t
}

func (r Result) partsTable() Table {
	t := Table{"Where the bytes of an object are.", []string{"part", "bytes of an object", "share"}, nil}
	whole := 0.0 // of the objects that the parts were measured of: others more may take less
	for _, part := range r.Parts {
		if part.Within == "" {
			whole += part.Bytes.Value
		}
	}
	for _, part := range r.Parts {
		name := part.Name
		if part.Within != "" {
			name += " (" + part.Within + ")"
		}
		t.Rows = append(t.Rows, []string{name, Bytes(part.Bytes.Value), wording.Percent(part.Bytes.Value / whole)})
	}
	return t
}

func (r Result) settingsTable() Table {
	t := Table{"Settings of Go's collector, relative to GOGC=100.", []string{"setting", "peak", "in service", "CPU"}, nil}
	for _, s := range r.Settings {
		t.Rows = append(t.Rows, []string{s.Name, wording.Times(s.Peak.Value), wording.Times(s.Service.Value), wording.Times(s.CPU.Value)})
	}
	return t
}

// Table is what a heap profile holds.
func (h *Heap) Table() Table {
	t := Table{"The heap of your process.", []string{"heap profile", "bytes", "share"}, nil}
	for _, g := range h.Groups {
		t.Rows = append(t.Rows, []string{g.Name, Bytes(float64(g.Bytes)), wording.Percent(float64(g.Bytes) / float64(max(1, h.InUse)))})
	}
	return t
}

// Manifest is the advice as it is pasted.
func (a Advice) Manifest() string {
	return fmt.Sprintf("resources:\n  requests:\n    memory: %dMi\n  limits:\n    memory: %dMi\nenv:\n- {name: GOMEMLIMIT, value: %dMiB}\n- {name: GOGC, value: \"%d\"}\n",
		a.Request>>20, a.Limit>>20, a.GOMEMLIMIT>>20, a.GOGC)
}

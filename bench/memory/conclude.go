package memory

import (
	"cmp"
	"slices"

	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/informerbench/informerbench/bench/memory/fields"
)

// conclude makes a result of the readings.
func (m *measurement) conclude() (Result, error) {
	r := Result{
		Schema: SchemaVersion, Source: m.Set.Source, Objects: m.Objects, Load: m.Load, Repeats: m.rounds, Seed: m.Seed,
		BaseHeap: m.over(m.arms[:3], func(x child.Reading) float64 { return float64(x.BaseHeap) }),
		BaseRSS:  m.over(m.arms[:3], func(x child.Reading) float64 { return float64(x.BaseResident) }),
		Warnings: m.warnings,
	}
	for _, k := range m.Set.Kinds {
		form := m.Load.Form
		if form == child.Typed && !typed(k) {
			form = child.Unstructured
		}
		r.Kinds = append(r.Kinds, Kind{k.Name(), k.GroupVersion().String(), k.Count, float64(k.Bytes) / float64(k.Count), len(k.Sample), form})
	}
	for i, n := range m.sizes {
		r.Sizes = append(r.Sizes, m.usage(n, m.base[i]))
	}
	top := m.base[len(m.base)-1]
	r.Prediction = m.usage(m.Objects, nil)
	if m.Objects == m.sizes[2] {
		r.Prediction = r.Sizes[2]
	}
	r.PerObject = m.line(func(x child.Reading) float64 { return float64(x.Live) }).slopeFigure()
	for round := range m.rounds {
		if x, ok := top.readings[round]; ok {
			r.Timeline = x.Timeline
		}
	}
	r.Parts = m.partsFound()
	for _, a := range m.arms {
		switch {
		case len(a.readings) == 0:
		case a.change:
			r.Changes = append(r.Changes, m.compared(a))
		case a.setting:
			r.Settings = append(r.Settings, m.setting(a))
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b Saving) int { return cmp.Compare(b.Live.Value, a.Live.Value) })
	advise(r.Changes)
	r.Advice = m.advice(r)
	r.Summary = summary(r)
	var err error
	r.Transforms, err = m.transforms(r.Changes)
	return r, err
}

// usages are the metrics of a usage.
var usages = []struct {
	of   func(*Usage) *Figure
	read func(child.Reading) float64
}{
	{func(u *Usage) *Figure { return &u.Live }, func(x child.Reading) float64 { return float64(x.Live) }},
	{func(u *Usage) *Figure { return &u.StartHeap }, func(x child.Reading) float64 { return float64(x.Start.Heap) }},
	{func(u *Usage) *Figure { return &u.StartResident }, func(x child.Reading) float64 { return float64(x.Start.Resident) }},
	{func(u *Usage) *Figure { return &u.ServiceResident }, func(x child.Reading) float64 { return float64(x.Service.Resident) }},
	{func(u *Usage) *Figure { return &u.RelistResident }, func(x child.Reading) float64 { return float64(x.Relist.Resident) }},
	{func(u *Usage) *Figure { return &u.StartCPU }, func(x child.Reading) float64 { return x.Start.CPU.Seconds() }},
	{func(u *Usage) *Figure { return &u.Peak }, peak},
}

func peak(x child.Reading) float64 {
	return float64(max(x.Start.Resident, x.Service.Resident, x.Relist.Resident, x.Resync.Resident))
}

// usage is what n objects take: as measured with an arm, or along the line.
func (m *measurement) usage(n int, a *arm) Usage {
	u := Usage{Objects: n, Measured: a != nil}
	for _, metric := range usages {
		if a != nil {
			*metric.of(&u) = m.over([]*arm{a}, metric.read)
		} else {
			f := m.line(metric.read).at(float64(n))
			f.Low = max(0, f.Low)
			*metric.of(&u) = f
		}
	}
	if a == nil { // lines cross, but no phase goes beyond the peak
		for _, f := range []Figure{u.StartResident, u.ServiceResident, u.RelistResident} {
			u.Peak = Figure{max(u.Peak.Value, f.Value), max(u.Peak.Low, f.Low), max(u.Peak.High, f.High)}
		}
	}
	return u
}

func (m *measurement) over(arms []*arm, read func(child.Reading) float64) Figure {
	var values []float64
	for _, a := range arms {
		for round := range m.rounds {
			if x, ok := a.readings[round]; ok {
				values = append(values, read(x))
			}
		}
	}
	return FigureOf(values)
}

// line is a metric over the three sizes.
func (m *measurement) line(read func(child.Reading) float64) line {
	var x, y []float64
	for _, a := range m.base {
		for round := range m.rounds {
			if reading, ok := a.readings[round]; ok {
				x, y = append(x, float64(a.objects)), append(y, read(reading))
			}
		}
	}
	return fit(x, y)
}

// paired are an arm's readings with those of the load as it is, of the same rounds.
func (m *measurement) paired(a *arm, of func(now, then child.Reading) float64) Figure {
	var values []float64
	for round := range m.rounds {
		then, ok := a.readings[round]
		if !ok {
			continue
		}
		sum, n := 0.0, 0.0
		for _, same := range m.asItIs {
			if now, ok := same.readings[round]; ok {
				sum, n = sum+of(now, then), n+1
			}
		}
		values = append(values, sum/n) // of none: not a number, which is left out
	}
	return FigureOf(values)
}

// own is what objects take, without the process.
func own(x child.Reading) float64 { return float64(x.Live) - float64(x.BaseHeap) }

func ownPeak(x child.Reading) float64 { return peak(x) - float64(x.BaseResident) }

func ownStart(x child.Reading) float64 { return float64(x.Start.Resident) - float64(x.BaseResident) }

func (m *measurement) partsFound() (parts []Part) {
	asItIs := m.asItIs[0]
	bare := m.paired(asItIs, func(x, _ child.Reading) float64 { return (float64(x.Bare) - float64(x.BaseHeap)) / float64(x.Objects) })
	rest := bare
	for _, a := range m.arms {
		if a.part == "" || len(a.readings) == 0 {
			continue
		}
		read := func(now, then child.Reading) float64 { return float64(now.Bare) - float64(then.Bare) }
		switch {
		case a.job.Blocked:
			read = func(now, then child.Reading) float64 { return float64(then.Live) - float64(now.Live) }
		case a.within != "":
			read = func(now, then child.Reading) float64 { return float64(now.Live) - float64(then.Live) }
		}
		p := Part{a.part, m.eachObject(a, read), a.within}
		if p.Within == "" {
			rest = Figure{rest.Value - p.Bytes.Value, rest.Low - p.Bytes.High, rest.High - p.Bytes.Low}
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(len(a.Within), len(b.Within)), cmp.Compare(b.Bytes.Value, a.Bytes.Value))
	})
	end := slices.IndexFunc(parts, func(p Part) bool { return p.Within != "" })
	if end < 0 {
		end = len(parts)
	}
	parts = slices.Insert(parts, end,
		Part{Name: "the structures of the objects, names, other metadata", Bytes: rest},
		Part{Name: "stores, indices and handlers", Bytes: m.paired(asItIs, func(x, _ child.Reading) float64 { return (float64(x.Live) - float64(x.Bare)) / float64(x.Objects) })})
	for _, a := range m.arms {
		if a.intern && len(a.readings) > 0 {
			parts = append(parts, Part{"strings that repeat", m.eachObject(a, saves), "in the objects"})
		}
	}
	return parts
}

// saves is what a change saves of what lives.
func saves(now, then child.Reading) float64 { return own(now) - own(then) }

// eachObject is what is read for each object of the load as it is.
func (m *measurement) eachObject(a *arm, read func(now, then child.Reading) float64) Figure {
	return m.paired(a, func(now, then child.Reading) float64 { return read(now, then) / float64(now.Objects) })
}

// compared is what a change saves.
func (m *measurement) compared(a *arm) Saving {
	share := func(of func(child.Reading) float64) Figure {
		return m.paired(a, func(now, then child.Reading) float64 { return 1 - of(then)/of(now) })
	}
	return Saving{
		Name: a.name, How: a.how, Asks: a.asks, Objects: a.objects,
		Bytes: m.eachObject(a, saves), Live: share(own), Peak: m.ofPeak(a, ownPeak), Start: m.ofPeak(a, ownStart),
		CPU: share(func(x child.Reading) float64 { return x.Start.CPU.Seconds() }),
	}
}

// ofPeak is the share of a peak that a change saves with all objects. What does not grow
// with them, buffers of a page of the list above all, is the same whatever is held: it
// makes savings small where there are few objects.
func (m *measurement) ofPeak(a *arm, own func(child.Reading) float64) Figure {
	constant := max(0, m.line(own).intercept)
	return m.paired(a, func(now, then child.Reading) float64 {
		grown := func(y float64) float64 {
			return y + (float64(m.Objects)/float64(now.Objects)-1)*max(0, y-constant)
		}
		return 1 - grown(own(then))/grown(own(now))
	})
}

func (m *measurement) setting(a *arm) Setting {
	ratio := func(of func(child.Reading) float64) Figure {
		return m.paired(a, func(now, then child.Reading) float64 { return of(then) / of(now) })
	}
	s := Setting{Name: a.name, GOGC: cmp.Or(a.job.GOGC, 100), MemLimit: a.memLimit()}
	s.Peak = ratio(peak)
	s.Service = ratio(func(x child.Reading) float64 { return float64(x.Service.Resident) })
	s.CPU = ratio(func(x child.Reading) float64 { return (x.Start.CPU + x.Service.CPU + x.Relist.CPU).Seconds() })
	return s
}

// memLimit is that of all its objects, 0 for none.
func (a *arm) memLimit() int64 {
	if a.limit == nil {
		return 0
	}
	return a.limit(float64(a.objects))
}

// transforms prints the code of the changes that need some: those that any program
// may make, and those that were asked for.
func (m *measurement) transforms(changes []Saving) (all []Transform, err error) {
	var dropped []string
	intern := false
	for _, c := range changes {
		i := slices.IndexFunc(m.arms, func(a *arm) bool { return a.change && a.name == c.Name })
		if i < 0 || c.Asks != "" && !slices.ContainsFunc(m.Drop, func(path string) bool { return slices.Contains(m.arms[i].dropped, path) }) || !helps(c) {
			continue
		}
		dropped = append(dropped, m.arms[i].dropped...)
		intern = intern || m.arms[i].intern
	}
	drop, err := fields.ParseAll(dropped...)
	if err != nil {
		return nil, err
	}
	if len(drop) > 0 {
		for _, k := range m.Set.Kinds {
			code, err := fields.Transform(k.GroupVersionKind, m.Load.Form == child.Typed, drop)
			if err != nil {
				return nil, err
			}
			all = append(all, Transform{k.Name(), code})
		}
	}
	if intern {
		all = append(all, Transform{"any kind", fields.InternerSource()})
	}
	return all, nil
}

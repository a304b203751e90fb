package tune

import (
	"context"
	"math"
	"math/rand/v2"
)

// doubted widens the intervals of a prediction by what the data leave open of
// the rate, the service time and the size of sweeps: it simulates models that
// differ from m as much as another measurement of the same length would.
func (m *Model) doubted(ctx context.Context, f Figures, seed uint64) (Figures, error) {
	// Tenths of the normal distribution, at their middles.
	normals := []float64{-1.645, -1.036, -0.674, -0.385, -0.126, 0.126, 0.385, 0.674, 1.036, 1.645}
	if !f.Stable || m.Observations == 0 {
		return f, nil
	}
	rates := rand.New(rand.NewPCG(seed, 0xd0b7)).Perm(len(normals))
	var other []Figures
	for i := range normals {
		p := m.alone(i)
		root := math.Sqrt(m.Observations)
		p.scale(max(0.5, 1+normals[rates[i]]*math.Sqrt(max(0.05, m.Dispersion))/root), max(0.5, 1+normals[i]*m.ServiceCV/root))
		if y := &p.flow; y.size > 0 {
			// Half a sweep more or less may lie in what was measured.
			y.size *= max(0.5, 1+normals[(i+3)%len(normals)]*0.4*y.period(p.Spec.Resources[0].Events.Arrivals.Rate)/m.Interval)
		}
		g, err := p.predict(ctx, f.Settings, effort{replicas: 1, events: 2 * rough.events, patience: 1}, seed)
		if err != nil {
			return f, err
		}
		other = append(other, g)
	}
	widen := func(x *Interval, of func(Figures) float64) {
		for _, g := range other {
			if !g.Stable {
				x.High = Unbounded
				continue
			}
			x.Low, x.High = min(x.Low, of(g)), max(x.High, of(g))
		}
		x.Low = max(0, x.Low)
	}
	for _, q := range []struct {
		to *Quantiles
		of func(Figures) Quantiles
	}{
		{&f.Wait, func(g Figures) Quantiles { return g.Wait }},
		{&f.Settle, func(g Figures) Quantiles { return g.Settle }},
		{&f.Work, func(g Figures) Quantiles { return g.Work }},
	} {
		widen(&q.to.Mean, func(g Figures) float64 { return q.of(g).Mean.Mean })
		widen(&q.to.P50, func(g Figures) float64 { return q.of(g).P50.Mean })
		widen(&q.to.P90, func(g Figures) float64 { return q.of(g).P90.Mean })
		widen(&q.to.P99, func(g Figures) float64 { return q.of(g).P99.Mean })
		widen(&q.to.P999, func(g Figures) float64 { return q.of(g).P999.Mean })
	}
	widen(&f.Depth, func(g Figures) float64 { return g.Depth.Mean })
	widen(&f.Utilisation, func(g Figures) float64 { return g.Utilisation.Mean })
	f.Utilisation.High = min(1, f.Utilisation.High)
	widen(&f.CallRate, func(g Figures) float64 { return g.CallRate.Mean })
	widen(&f.QueueCores, func(g Figures) float64 { return g.QueueCores.Mean })
	return f, nil
}

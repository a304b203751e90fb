package tune

import "math"

// A figure is compared between the measurement and the simulations.
type figure struct {
	measured float64
	values   []float64 // of the simulations
	floor    float64   // standard deviation of what no model gets right
}

// logLikelihoods gives the logarithms, but for a constant, of the models' likelihoods:
// their figures are taken to be normal. They hang together, more or less alike in
// all models, so their correlation is from all of them together.
func logLikelihoods(tried []outcome) []float64 {
	n := len(tried[0].figures)
	correlation := make([][]float64, n)
	for i := range correlation {
		correlation[i] = make([]float64, n)
	}
	for _, x := range tried {
		for i := range n {
			for j := range n {
				correlation[i][j] += together(x.figures[i].values, x.figures[j].values) / float64(len(tried))
			}
		}
	}
	less := 1 - min(1, max(0.05, float64(n)/float64((trials-1)*len(tried)))) // for lack of simulations
	logs := make([]float64, len(tried))
	for k, x := range tried {
		rows := make([][]float64, n)
		off := make([]float64, n)
		for i, f := range x.figures {
			mean, deviation := moments(f.values)
			off[i] = f.measured - mean
			rows[i] = make([]float64, n)
			for j, g := range x.figures[:i] {
				_, other := moments(g.values)
				rows[i][j] = less * correlation[i][j] * deviation * other * x.shorter * x.shorter
			}
			rows[i][i] = deviation*deviation*x.shorter*x.shorter + f.floor*f.floor
		}
		logs[k] = normal(rows, off)
	}
	return logs
}

// together is the correlation of two figures over the simulations.
func together(a, b []float64) float64 {
	meanA, deviationA := moments(a)
	meanB, deviationB := moments(b)
	if deviationA*deviationB < 1e-15 {
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += (a[i] - meanA) * (b[i] - meanB)
	}
	return sum / float64(len(a)-1) / (deviationA * deviationB)
}

// normal is the logarithm of the density of the normal distribution with those
// covariances, of which it takes the lower half and makes its root (Cholesky).
func normal(rows [][]float64, off []float64) float64 {
	sum := 0.0
	for i, row := range rows {
		for j := range i + 1 {
			for k := range j {
				row[j] -= row[k] * rows[j][k]
			}
			if i == j {
				row[i] = math.Sqrt(max(row[i], 1e-12))
			} else {
				row[j] /= rows[j][j]
			}
		}
		for k := range i {
			off[i] -= row[k] * off[k]
		}
		off[i] /= row[i]
		sum -= off[i]*off[i]/2 + math.Log(row[i])
	}
	return sum
}

package infer

import "math"

// A point is one simulation: where in its family it lies, and what came of it.
type point struct {
	at float64   // place among the family's shares
	x  []float64 // what else it was drawn with: offsets from the middle of what is likely
	y  []float64 // figures
}

// A surface says what figures to expect around a place in a family, and how they scatter.
type surface struct {
	at      float64     // below 0: of a family without shares
	b       [][]float64 // of each figure: at the place, by the place, by each offset
	scatter []float64   // standard deviation of each
	freedom float64
	root    [][]float64 // of the covariance of what scatters (Cholesky, lower)
	logDet  float64
}

// row is what the figures of a point are regressed on.
func (s *surface) row(p point) []float64 {
	row := []float64{1}
	if s.at >= 0 {
		row = append(row, p.at-s.at)
	}
	return append(row, p.x...)
}

// fit is a regression, weighted by how near points are to the place; nil if these are too few.
func fit(at float64, points []point) *surface {
	s := &surface{at: at}
	rows, near := make([][]float64, len(points)), make([]float64, len(points))
	all, squares := 0.0, 0.0
	for k, pt := range points {
		rows[k], near[k] = s.row(pt), 1
		if at >= 0 {
			near[k] = math.Exp(-rows[k][1] * rows[k][1] / 2)
		}
		all += near[k]
		squares += near[k] * near[k]
	}
	p, n := len(rows[0]), all*all/squares
	if s.freedom = n - float64(p); s.freedom < 6 {
		return nil
	}
	normal := square(p)
	for k, row := range rows {
		for i := range row {
			for j := range i + 1 {
				normal[i][j] += near[k] * row[i] * row[j]
			}
		}
	}
	for i := range p {
		normal[i][i] += 1e-9*all + 1e-12
	}
	cholesky(normal)
	for f := range points[0].y {
		b, sum := make([]float64, p), 0.0
		for k, row := range rows {
			for i, x := range row {
				b[i] += near[k] * x * points[k].y[f]
			}
		}
		solve(normal, b)
		for k, row := range rows {
			off := points[k].y[f] - dot(b, row)
			sum += near[k] / all * off * off
		}
		s.b, s.scatter = append(s.b, b), append(s.scatter, math.Sqrt(sum*n/s.freedom))
	}
	return s
}

// correlated says how figures hang together.
func (s *surface) correlated(correlation [][]float64, figures []figure) {
	s.root = square(len(figures))
	for f, a := range figures {
		for g, b := range figures[:f] {
			s.root[f][g] = correlation[f][g] * s.scatter[f] * s.scatter[g] * math.Sqrt(a.by*b.by)
		}
		s.root[f][f] = s.scatter[f]*s.scatter[f]*a.by + a.floor*a.floor
	}
	cholesky(s.root)
	for f := range figures {
		s.logDet += math.Log(s.root[f][f])
	}
}

// together is the correlation of the figures of points, each as far from what the surface beside it
// expects: of all the family's, since few points tell it badly.
func together(points []point, near func(point) *surface) [][]float64 {
	q := len(points[0].y)
	sum := square(q)
	for _, p := range points {
		s := near(p)
		if s == nil {
			continue
		}
		row := s.row(p)
		off := make([]float64, q)
		for f := range q {
			off[f] = (p.y[f] - dot(s.b[f], row)) / max(s.scatter[f], 1e-9)
			for g := range f + 1 {
				sum[f][g] += off[f] * off[g]
			}
		}
	}
	for f := range q {
		for g := range f {
			// Somewhat less than it seems, alike for all families: of figures that nearly always
			// go together a chance difference would tell too much.
			sum[f][g] *= 0.95 / max(math.Sqrt(sum[f][f]*sum[g][g]), 1e-9)
		}
	}
	return sum
}

func square(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
	}
	return rows
}

// log is the logarithm of the density of figures, by Student's t, at offsets from the place.
func (s *surface) log(want, x []float64) float64 {
	nu, q := min(s.freedom, mostFreedom), float64(len(want))
	return -(nu+q)/2*math.Log1p(s.distance(want, x)/nu) - s.logDet
}

// distance is the square of how far figures are from what is expected, in standard deviations.
func (s *surface) distance(want, x []float64) float64 {
	off := make([]float64, len(want))
	sum := 0.0
	for f, b := range s.b {
		off[f] = want[f] - b[0] - dot(x, b[len(b)-len(x):])
		for g := range f {
			off[f] -= s.root[f][g] * off[g]
		}
		off[f] /= s.root[f][f]
		sum += off[f] * off[f]
	}
	return sum
}

// cholesky replaces the lower half of a matrix by its root.
func cholesky(rows [][]float64) {
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
	}
}

// solve puts the solution in the place of the right side, by a root.
func solve(root [][]float64, right []float64) []float64 {
	n := len(right)
	for i := range n {
		for k := range i {
			right[i] -= root[i][k] * right[k]
		}
		right[i] /= root[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			right[i] -= root[k][i] * right[k]
		}
		right[i] /= root[i][i]
	}
	return right
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func moments(list []float64) (mean, deviation float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		deviation += (x - mean) * (x - mean) / float64(len(list)-1)
	}
	return mean, math.Sqrt(deviation)
}

package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// (4, 2; 2, 5) has the root (2, 0; 1, 2).
func TestCholesky(t *testing.T) {
	rows := [][]float64{{4, 0}, {2, 5}}
	cholesky(rows)
	assert.InDeltaSlice(t, []float64{2, 1, 2}, []float64{rows[0][0], rows[1][0], rows[1][1]}, 1e-12)
	assert.InDeltaSlice(t, []float64{1, -2}, solve(rows, []float64{0, -8}), 1e-12)

	// What is no more than rounding stays above nothing.
	flat := [][]float64{{1, 0}, {1, 1}}
	cholesky(flat)
	assert.Positive(t, flat[1][1])
	for _, x := range solve(flat, []float64{1, 1}) {
		assert.False(t, math.IsNaN(x))
	}
}

func TestMoments(t *testing.T) {
	mean, deviation := moments([]float64{1, 2, 3, 6})
	assert.InDelta(t, 3, mean, 1e-12)
	assert.InDelta(t, math.Sqrt(14./3), deviation, 1e-12)
	assert.InDelta(t, 11, dot([]float64{1, 2}, []float64{3, 4}), 1e-12)
}

// plane are points of two figures that go linearly with a place and an offset: the first
// scatters by 0.1, the second by half of that and its own 0.2.
func plane(n int, places float64) (list []point) {
	r := rand.New(rand.NewPCG(seed, 3))
	for range n {
		at, x := places*r.Float64(), r.NormFloat64()
		off := 0.1 * r.NormFloat64()
		list = append(list, point{at, []float64{x}, []float64{
			1 + 0.5*at + 2*x + off,
			3 - at - x + 0.5*off + 0.2*r.NormFloat64(),
		}})
	}
	return list
}

// surfaced is the surface at a place, whose figures hang together as those of all points do.
func surfaced(t *testing.T, at float64, points []point, by float64) *surface {
	t.Helper()
	s := fit(at, points)
	require.NotNil(t, s)
	figures := slices.Repeat([]figure{{floor: 1e-3, by: by}}, len(points[0].y))
	s.correlated(together(points, func(point) *surface { return s }), figures)
	return s
}

// A regression finds the plane and its scatter, at any place.
func TestFitOfAPlane(t *testing.T) {
	for _, at := range []float64{0.5, 2.5, 4} {
		s := surfaced(t, at, plane(2000, 5), 1)
		assert.InDeltaSlice(t, []float64{1 + 0.5*at, 0.5, 2}, s.b[0], 0.02)
		assert.InDeltaSlice(t, []float64{3 - at, -1, -1}, s.b[1], 0.04)
		assert.InEpsilon(t, 0.1, s.scatter[0], 0.07)
		assert.InEpsilon(t, math.Hypot(0.05, 0.2), s.scatter[1], 0.07)
		assert.InDelta(t, math.Log(s.root[0][0]*s.root[1][1]), s.logDet, 1e-9)
	}
	assert.Nil(t, fit(-1, plane(6, 0)), "six points tell no scatter")
}

// Of a family without shares there is no place. Figures hang together as they do, and scatter by
// as much as the measurement's.
func TestHowFiguresScatter(t *testing.T) {
	list := plane(500, 0)
	s := surfaced(t, -1, list, 1)
	assert.InDeltaSlice(t, []float64{1, 2}, s.b[0], 0.02)
	assert.InDelta(t, 498, s.freedom, 1e-9)
	assert.InEpsilon(t, 0.1, s.root[0][0], 0.1)
	assert.InDelta(t, 0.05, s.root[1][0], 0.025)
	assert.InEpsilon(t, 0.2, s.root[1][1], 0.1)
	longer := surfaced(t, -1, list, 0.25)
	assert.InEpsilon(t, s.root[0][0]/2, longer.root[0][0], 0.01, "of a measurement four times as long as a simulation")
	assert.InEpsilon(t, s.root[1][0]/2, longer.root[1][0], 0.01)

	// Where nothing scatters the floor is left.
	for i := range list {
		list[i].y = []float64{2 * list[i].x[0]}
	}
	assert.InEpsilon(t, 1e-3, surfaced(t, -1, list, 1).root[0][0], 0.01)
}

// What hangs together does so in the whole family, wherever its points are.
func TestTogether(t *testing.T) {
	list := plane(2000, 5)
	surfaces := map[float64]*surface{}
	got := together(list, func(p point) *surface {
		at := math.Round(p.at)
		if surfaces[at] == nil {
			surfaces[at] = fit(at, list)
		}
		return surfaces[at]
	})
	want := 0.05 / math.Hypot(0.05, 0.2)
	assert.InDelta(t, want, got[1][0], 0.05)
	none := together(list, func(point) *surface { return nil })
	assert.Zero(t, none[1][0], "where no surface is")
}

// Only what is near a place counts there.
func TestFitIsLocal(t *testing.T) {
	r := rand.New(rand.NewPCG(seed, 4))
	var list []point
	for range 3000 {
		at := 10 * r.Float64()
		list = append(list, point{at, []float64{r.NormFloat64()}, []float64{(at - 5) * (at - 5)}})
	}
	for _, at := range []float64{2, 8} {
		s := fit(at, list)
		require.NotNil(t, s)
		assert.InDelta(t, 9, s.b[0][0], 1.2)
		assert.InDelta(t, 2*(at-5), s.b[0][1], 0.5)
	}
}

// What is near is more probable than what is far, in each figure and in both together, and
// a distance is in standard deviations.
func TestDensity(t *testing.T) {
	s := surfaced(t, -1, plane(2000, 0), 1)
	expected := []float64{1 + 2*0.3, 3 - 0.3}
	off := func(a, b float64) []float64 { return []float64{expected[0] + a, expected[1] + b} }
	x := []float64{0.3}
	assert.InDelta(t, 0, s.distance(expected, x), 0.05)
	assert.InEpsilon(t, 9, s.distance(off(0.3, 0.15), x), 0.15, "three of the first, with which the second goes")
	assert.InEpsilon(t, 9, s.distance(off(0, 0.6), x), 0.15)
	before := math.Inf(1)
	for _, far := range []float64{0, 0.1, 0.3, 1, 10} {
		log := s.log(off(far, 0), x)
		assert.Less(t, log, before)
		before = log
	}
	assert.Greater(t, s.log(off(0.3, 0.15), x), s.log(off(0.3, -0.15), x), "together as they go together")
	assert.Greater(t, s.log(off(3, 0), x), -200.0, "Student's tails are heavy")
}

package model

import (
	"math/rand/v2"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// Work is a distribution of durations that is drawn from tables of its quantiles: half as
// expensive as by its law. The zero Work takes no time.
type Work struct {
	law        randvar.Dist
	body, tail []float64 // quantiles up to that part, and from there on
	by         float64
}

const (
	cells = 512
	apart = 1.0 / 64 // the part that is the tail, and the part of this for which the law is asked itself
)

// NewWork makes the tables of a law.
func NewWork(law randvar.Dist) Work {
	w := Work{law: law, by: 1, body: make([]float64, cells+1), tail: make([]float64, cells+1)}
	for i := range w.body {
		u := float64(i) / cells
		w.body[i] = law.Quantile(u * (1 - apart))
		w.tail[i] = law.Quantile(1 - apart*(1-u*(1-apart)))
	}
	return w
}

// Times is the same with all durations so many times as long.
func (w Work) Times(by float64) Work {
	w.by *= by
	return w
}

// Mean is in seconds.
func (w *Work) Mean() float64 { return w.by * w.law.Mean() }

func (w *Work) sample(r *rand.Rand) float64 {
	if w.body == nil {
		return 0
	}
	u := r.Float64()
	if u < 1-apart {
		return w.by * between(w.body, u/(1-apart))
	}
	if u = (u - (1 - apart)) / apart; u < 1-apart {
		return w.by * between(w.tail, u/(1-apart))
	}
	return w.by * w.law.Quantile(1-apart*(1-u))
}

func between(table []float64, u float64) float64 {
	at := u * cells
	i := int(at)
	return table[i] + (at-float64(i))*(table[i+1]-table[i])
}

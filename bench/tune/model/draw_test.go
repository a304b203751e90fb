package model

import "math/rand/v2"

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 9)) }

func moments(list []float64) (mean, variance float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		variance += (x - mean) * (x - mean) / float64(len(list)-1)
	}
	return mean, variance
}

package model

import "math"

// An event of an agenda: a job's next step, or a key's retry.
type event struct {
	at float64
	of int32
}

// An agenda holds events, the earliest first.
type agenda []event

func (a *agenda) push(x event) {
	*a = append(*a, x)
	h := *a
	i := len(h) - 1
	for ; i > 0 && x.at < h[(i-1)/2].at; i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = x
}

func (a *agenda) pop() event {
	h := *a
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*a = h
	if len(h) > 0 {
		h.sift(last)
	}
	return first
}

// sift puts an event in the place of the first, and then where it belongs.
func (a agenda) sift(x event) {
	i := 0
	for child := 1; child < len(a); child = 2*i + 1 {
		if child+1 < len(a) && a[child+1].at < a[child].at {
			child++
		}
		if x.at <= a[child].at {
			break
		}
		a[i] = a[child]
		i = child
	}
	a[i] = x
}

func (a agenda) first() float64 {
	if len(a) == 0 {
		return math.Inf(1)
	}
	return a[0].at
}

// A bucket lets so many through a second.
type bucket struct{ rate, burst, tokens, at float64 }

// reserve takes a token and says how long it takes until it is there.
func (b *bucket) reserve(now float64) float64 {
	if b.rate == 0 {
		return 0
	}
	b.tokens = min(b.burst, b.tokens+(now-b.at)*b.rate) - 1
	b.at = now
	return max(0, -b.tokens/b.rate)
}

// slot is a place in a list: one that is free again, or a new one.
func slot[T any](list *[]T, free *[]int32) int32 {
	if last := len(*free) - 1; last >= 0 {
		i := (*free)[last]
		*free = (*free)[:last]
		return i
	}
	var empty T
	*list = append(*list, empty)
	return int32(len(*list) - 1)
}

package ratelimit

import "time"

type fused[T comparable] struct{}

func (q *fused[T]) when(item T) time.Duration { return 0 }
func (q *fused[T]) NumRequeues(item T) int    { return 0 }
func (q *fused[T]) Forget(item T)             {}

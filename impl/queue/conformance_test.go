package queue_test

import (
	"testing"

	"github.com/informerbench/informerbench/impl/impltest"
	"github.com/informerbench/informerbench/impl/queue"
)

func TestSlice(t *testing.T)   { impltest.TestQueue(t, queue.NewSlice[string]) }
func TestRing(t *testing.T)    { impltest.TestQueue(t, queue.NewRing[string]) }
func TestCompact(t *testing.T) { impltest.TestQueue(t, queue.NewCompact[string]) }

func TestSharded(t *testing.T) {
	impltest.TestQueue(t, queue.NewSharded[string], "global-fifo", "requeue-place")
}

func TestSliceStorage(t *testing.T) { impltest.TestStorage(t, queue.NewSliceStorage[string]) }
func TestRingStorage(t *testing.T)  { impltest.TestStorage(t, queue.NewRingStorage[string]) }

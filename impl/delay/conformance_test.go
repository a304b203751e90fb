package delay_test

import (
	"testing"

	"github.com/informerbench/informerbench/impl/delay"
	"github.com/informerbench/informerbench/impl/impltest"
)

func TestHeapConforms(t *testing.T)  { impltest.TestDelayingQueue(t, delay.NewHeap[string]) }
func TestHeap4Conforms(t *testing.T) { impltest.TestDelayingQueue(t, delay.NewHeap4[string]) }

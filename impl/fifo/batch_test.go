package fifo

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// A consumer that asks for small batches gets no larger ones, and all deltas.
func TestBatchSize(t *testing.T) {
	for name, q := range map[string]cache.QueueWithBatch{
		"slice": NewSliceInOrder(Config{Batch: 3}), "ring": NewRingInOrder(Config{Batch: 3}),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 8 {
				require.NoError(t, q.Add(&metav1.ObjectMeta{Name: strconv.Itoa(i)}))
			}
			var sizes []int
			for taken := 0; taken < 8; {
				require.NoError(t, q.PopBatch(func(deltas []cache.Delta, _ bool) error {
					sizes = append(sizes, len(deltas))
					taken += len(deltas)
					return nil
				}, func(any, bool) error { return nil }))
			}
			require.Equal(t, []int{3, 3, 2}, sizes)
		})
	}
}

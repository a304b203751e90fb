package fakeapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/pace"
)

// counted yields events a second apart, and an error after so many.
type counted struct{ read, until int }

var errBroken = errors.New("broken")

func (s *counted) Next() (loadgen.Event, error) {
	if s.read == s.until {
		return loadgen.Event{}, errBroken
	}
	s.read++
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b"}}
	return loadgen.Event{At: time.Duration(s.read) * time.Second, Type: watch.Modified, Object: pod}, nil
}

// A stream is read before its events are due; an error is met where it stands,
// and nothing is read once Run has returned.
func TestStreamIsReadAhead(t *testing.T) {
	serve := func(t *testing.T, stream *counted, until time.Duration) (*Server, error) {
		server, err := New(Config{Stream: stream, Types: []loadgen.Object{&corev1.Pod{}}, Pacer: pace.NewTimer()})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), until)
		defer cancel()
		return server, server.Run(ctx)
	}
	for _, until := range []int{0, 1, aheadBatch - 1, aheadBatch, aheadBatch + 1, 5*aheadBatch + 3, (aheadBatches + 2) * aheadBatch} {
		synctest.Test(t, func(t *testing.T) {
			server, err := serve(t, &counted{until: until}, time.Hour)
			require.ErrorIs(t, err, errBroken)
			require.EqualValues(t, until, server.Stats().Sent)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		stream := &counted{until: 1_000_000}
		server, err := serve(t, stream, 10*time.Second+time.Millisecond)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualValues(t, 10, server.Stats().Sent)
		require.LessOrEqual(t, stream.read, aheadBatches*aheadBatch, "read ahead by the batches there are")
	})
}

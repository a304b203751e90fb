package trace

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"
	appsv1 "k8s.io/api/apps/v1"
)

type (
	simDoc struct {
		Version    int            `msgpack:"version"`
		Config     map[string]any `msgpack:"config"`
		Events     []simEvent     `msgpack:"events"`
		Index      map[string]any `msgpack:"index"`
		Lifecycles simLifecycles  `msgpack:"pod_lifecycles"`
	}
	simEvent struct {
		TS      int64            `msgpack:"ts"`
		Applied []map[string]any `msgpack:"applied_objs"`
		Deleted []map[string]any `msgpack:"deleted_objs"`
	}
	simLifecycles struct{}
)

// EncodeMsgpack writes what JSON could not: a map whose keys are pairs, and one
// whose keys are numbers.
func (simLifecycles) EncodeMsgpack(e *msgpack.Encoder) error {
	return errors.Join(e.EncodeMapLen(1),
		e.EncodeArrayLen(2), e.EncodeString("apps/v1.Deployment"), e.EncodeString("default/web"),
		e.EncodeMapLen(1), e.EncodeUint64(1<<63+5), e.EncodeArrayLen(1), e.EncodeMapLen(2),
		e.EncodeString("start_ts"), e.EncodeInt64(1), e.EncodeString("end_ts"), e.EncodeInt64(2))
}

func deployment(name string, replicas any) map[string]any {
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": "default", "name": name, "annotations": map[string]any{}},
		"spec": map[string]any{"replicas": replicas, "paused": false, "minReadySeconds": int64(3), "template": nil}}
}

func simTrace(t *testing.T, version int, events ...simEvent) []byte {
	t.Helper()
	data, err := msgpack.Marshal(simDoc{Version: version, Config: map[string]any{"trackedObjects": map[string]any{}}, Events: events, Index: map[string]any{"apps/v1.Deployment": map[string]any{"default/web": uint64(1 << 63)}}})
	require.NoError(t, err)
	return data
}

func openBytes(data []byte) (*Trace, error) {
	return newTrace("x.sktrace", bytes.NewReader(data), nil, Part{})
}

func TestSimKube(t *testing.T) {
	data := simTrace(t, 2,
		simEvent{TS: 1_700_000_000},
		simEvent{TS: 1_700_000_010, Applied: []map[string]any{deployment("web", uint8(2)), deployment("db", 1)}},
		simEvent{TS: 1_700_000_025, Applied: []map[string]any{deployment("web", int64(5))}, Deleted: []map[string]any{deployment("db", 1)}},
	)
	trace, err := openBytes(data)
	require.NoError(t, err)
	events, err := readAll(trace)
	require.NoError(t, err)
	require.Equal(t, []string{"ADDED default/web@1", "ADDED default/db@2", "MODIFIED default/web@3", "DELETED default/db@4"}, brief(events))
	require.Equal(t, 15*time.Second, events[3].At)
	require.EqualValues(t, 5, *events[2].Object.(*appsv1.Deployment).Spec.Replicas)
	require.Equal(t, map[string]int{"owners whose pods' life cycles name no pod": 1}, trace.Stats().Skipped)

	for length := 1; length < len(data); length++ { // cut anywhere
		trace, err := openBytes(data[:length])
		if err == nil {
			_, err = readAll(trace)
		}
		require.ErrorIs(t, err, ErrCut, "%d bytes", length)
	}
}

func TestSimKubeErrors(t *testing.T) {
	pack := func(v any) []byte {
		data, err := msgpack.Marshal(v)
		require.NoError(t, err)
		return data
	}
	deep := append([]byte{0x81, 0xa1, 'x'}, bytes.Repeat([]byte{0x91}, 1000)...)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"version":    {simTrace(t, 3, simEvent{TS: 1}), "x.sktrace: SimKube trace: found version 3, expected version 2"},
		"version 1":  {pack([]any{1, 2, 3, 4}), "x.sktrace: found a SimKube trace of a version before 2, expected version 2"},
		"no version": {pack(map[string]any{"events": []any{}}), "x.sktrace: SimKube trace: found no version before the events, expected version 2"},
		"time":       {simTrace(t, 2, simEvent{TS: -1, Applied: []map[string]any{deployment("a", 1)}}), "x.sktrace: event 1: found the year 1969, expected 1970 to 2200"},
		"no name":    {simTrace(t, 2, simEvent{TS: 1, Applied: []map[string]any{deployment("", 1)}}), "x.sktrace: event 1: Deployment without metadata.name"},
		"no kind":    {simTrace(t, 2, simEvent{TS: 1, Applied: []map[string]any{{"a": 1}}}), "x.sktrace: event 1: an object without kind"},
		"levels":     {deep, "x.sktrace: SimKube trace: found a value of more than 100 levels"},
		"wrong type": {simTrace(t, 2, simEvent{TS: 1, Applied: []map[string]any{deployment("a", "many")}}), "x.sktrace: event 1: not a Deployment: "},
	} {
		t.Run(name, func(t *testing.T) {
			trace, err := openBytes(c.data)
			for err == nil {
				_, err = trace.Next()
			}
			require.NotErrorIs(t, err, io.EOF)
			require.ErrorContains(t, err, c.want)
		})
	}
}

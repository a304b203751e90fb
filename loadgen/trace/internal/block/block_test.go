package block

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill writes three blocks of rows.
func fill(t *testing.T, path string) []Row {
	t.Helper()
	w, err := Create(path)
	require.NoError(t, err)
	var rows []Row
	for i := range 90 {
		row := Row{Time: int64(1e18) + int64(i)*1000, Type: byte(i % 5), Resource: fmt.Sprintf("r%d", i%3), Object: fmt.Appendf(nil, `{"i":%d}`, i)}
		if i%7 == 0 {
			row.Time = None
		}
		if i == 50 {
			row.Time = 1e18 // a clock that goes back
		}
		rows = append(rows, row)
		require.NoError(t, w.Write(row))
		if i%30 == 29 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Close())
	return rows
}

func read(r io.Reader) (rows []Row, err error) {
	reader, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	for {
		row, err := reader.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		row.Object = bytes.Clone(row.Object)
		rows = append(rows, row)
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	rows := fill(t, path)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	got, err := read(f)
	require.NoError(t, err)
	require.Equal(t, rows, got)

	info, err := f.Stat()
	require.NoError(t, err)
	spans, err := Spans(f, info.Size())
	require.NoError(t, err)
	require.Len(t, spans, 3)
	require.Equal(t, []int{30, 30, 30}, []int{spans[0].Events, spans[1].Events, spans[2].Events})
	require.Equal(t, int64(1e18), spans[1].First, "the least time, not the first row's")
	_, err = f.Seek(0, io.SeekStart)
	require.NoError(t, err)
	r, err := NewReader(f)
	require.NoError(t, err)
	require.NoError(t, r.Seek(f, spans, 2))
	row, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, rows[60], row)
	require.Equal(t, 3, r.Block())
	_, err = Create(path)
	require.ErrorIs(t, err, os.ErrExist)
}

// Cut anywhere, a file gives its whole blocks, says that it was cut, and can
// be gone on with; a second reader sees no trace of the cut.
func TestCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "x")
	rows := fill(t, whole)
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	f, err := os.Open(whole)
	require.NoError(t, err)
	defer f.Close()
	spans, err := Spans(f, int64(len(data)))
	require.NoError(t, err)
	end := bytes.LastIndex(data, []byte(indexMagic))
	for length := range data {
		got, err := read(bytes.NewReader(data[:length]))
		if length >= end+4 {
			require.NoError(t, err, "the index is only for jumps")
		} else {
			require.ErrorIs(t, err, ErrCut, "%d bytes", length)
		}
		blocks := 0
		for i := range spans {
			next := int64(end)
			if i+1 < len(spans) {
				next = spans[i+1].Offset
			}
			if next <= int64(length) {
				blocks++
			}
		}
		require.Len(t, got, 30*blocks, "%d bytes", length)
		if length < fileHeader || length%7 != 0 {
			continue
		}
		path := filepath.Join(dir, "cut")
		require.NoError(t, os.WriteFile(path, data[:length], 0o600))
		w, dropped, err := Resume(path)
		require.NoError(t, err)
		require.LessOrEqual(t, dropped, int64(length))
		extra := Row{Time: None, Object: []byte("{}")}
		require.NoError(t, w.Write(extra))
		require.NoError(t, w.Close())
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		got, err = read(bytes.NewReader(again))
		require.NoError(t, err)
		require.Len(t, got, 30*blocks+1)
		if blocks > 0 {
			require.Equal(t, rows[0], got[0])
		}
	}
}

// Whatever byte is damaged is noticed, or makes no difference.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	rows := fill(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	end := bytes.LastIndex(data, []byte(indexMagic))
	for i := range data[:end] {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x40
		got, err := read(bytes.NewReader(damaged))
		require.Error(t, err, "byte %d", i)
		require.Equal(t, rows[:len(got)], append([]Row{}, got...), "what came before is right")
	}
	damaged := bytes.Clone(data)
	damaged[len(Magic)]++
	_, err = read(bytes.NewReader(damaged))
	require.EqualError(t, err, "found version 2 of the compact format, expected version 1")
	damaged = bytes.Clone(data)
	damaged[end-3] ^= 1
	_, err = read(bytes.NewReader(damaged))
	require.EqualError(t, err, "block 3: damaged: its checksum is wrong")
}

func FuzzReader(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x")
	w, err := Create(path)
	require.NoError(f, err)
	require.NoError(f, errors.Join(w.Write(Row{Time: 5, Type: 1, Resource: "pods", Object: []byte(`{}`)}), w.Close()))
	data, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(data, []byte{1, 4, 'p', 'o', 'd', 's', 4, 2, 10, 0, 2, '{', '}'}, uint8(1))
	f.Add(data[:20], []byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, file, contents []byte, events uint8) {
		_, _ = read(bytes.NewReader(file)) // no panic
		// Contents with the right checksums are as hostile.
		z, err := encoder()
		require.NoError(t, err)
		payload := z.EncodeAll(contents, nil)
		h := header{span: Span{Events: int(events)}, payload: len(payload), rows: len(contents), checksum: checksum(payload)}
		opened, err := h.open(payload, nil)
		for err == nil && opened.left > 0 {
			_, err = opened.next()
		}
	})
}

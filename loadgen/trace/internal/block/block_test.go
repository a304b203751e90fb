package block

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// fill writes three blocks of lines.
func fill(t testing.TB, path string) (lines []string) {
	t.Helper()
	w, err := Create(path)
	require.NoError(t, err)
	for i := range 90 {
		time := int64(1e18) + int64(i)*1000
		if i%7 == 0 {
			time = None
		}
		if i == 50 {
			time = 1e18 // a clock that goes back
		}
		lines = append(lines, fmt.Sprintf("{\"i\":%d}\n", i))
		require.NoError(t, w.Write([]byte(lines[i]), time))
		if i%30 == 29 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Close())
	return lines
}

func read(data []byte) ([]string, error) {
	all, err := io.ReadAll(NewReader(bufio.NewReader(bytes.NewReader(data))))
	lines := strings.SplitAfter(string(all), "\n")
	return lines[:len(lines)-1], err
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	lines := fill(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(data, []byte(Magic)))
	got, err := read(data)
	require.NoError(t, err)
	require.Equal(t, lines, got)

	stock, err := zstd.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	defer stock.Close()
	all, err := io.ReadAll(stock)
	require.NoError(t, err)
	require.Equal(t, strings.Join(lines, ""), string(all), "to any zstd they are lines")

	r := NewReader(bufio.NewReader(bytes.NewReader(data)))
	require.Equal(t, int64(1e18+1000), r.First())
	r.SkipBefore(1e18 + 35_000)
	all, err = io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, strings.Join(lines[30:], ""), string(all))
	_, err = Create(path)
	require.ErrorIs(t, err, os.ErrExist)
}

// Cut anywhere, a file gives its whole blocks, says that it was cut, and can
// be gone on with; a second reader sees no trace of the cut.
func TestCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	lines := fill(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for length := range data {
		got, err := read(data[:length])
		require.ErrorIs(t, err, ErrCut, "%d bytes", length)
		require.Zero(t, len(got)%30)
		require.Equal(t, lines[:len(got)], got)
		if length%7 != 0 {
			continue
		}
		require.NoError(t, os.WriteFile(path, data[:length], 0o600))
		w, dropped, err := Resume(path)
		require.NoError(t, err)
		require.LessOrEqual(t, dropped, int64(length))
		require.NoError(t, w.Write([]byte("{}\n"), None))
		require.NoError(t, w.Close())
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		resumed, err := read(again)
		require.NoError(t, err)
		require.Equal(t, append(got, "{}\n"), resumed)
	}
}

// Whatever byte is damaged is noticed.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	lines := fill(t, path)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x40
		got, err := read(damaged)
		require.Error(t, err, "byte %d", i)
		require.Equal(t, lines[:len(got)], append([]string{}, got...), "what came before is right")
	}
	damaged := bytes.Clone(data)
	damaged[len(data)-headerSize-3] ^= 1
	_, err = read(damaged)
	require.EqualError(t, err, "block 3: damaged: its checksum is wrong")
}

func FuzzReader(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x")
	fill(f, path)
	data, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(data, []byte("{}\n"))
	f.Add(data[:20], []byte{})
	f.Fuzz(func(t *testing.T, file, payload []byte) {
		_, _ = read(file) // no panic
		// Contents with the right checksums are as hostile.
		h := header{payload: len(payload), checksum: checksum(payload)}
		_, err := read(append(h.bytes(), payload...))
		require.True(t, err == nil || !errors.Is(err, io.EOF))
	})
}

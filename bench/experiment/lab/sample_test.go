package lab

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/informerbench/informerbench/bench"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProfilesNameNoFolders(t *testing.T) {
	dir := t.TempDir()
	c := bench.Case{Component: "queue", Name: "op=add", Run: func(b *testing.B, _ string) {
		for b.Loop() {
			_ = os.Getpid()
		}
	}}
	require.NoError(t, RunProfile(c, "ring", dir, time.Millisecond))
	for _, kind := range profileKinds {
		data, err := os.ReadFile(filepath.Join(dir, kind+".pb.gz"))
		require.NoError(t, err)
		p, err := profile.ParseData(data)
		require.NoError(t, err, kind)
		for _, m := range p.Mapping {
			assert.Equal(t, filepath.Base(m.File), m.File, kind)
		}
	}
}

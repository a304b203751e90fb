package cputime

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcess(t *testing.T) {
	before := Process()
	require.Positive(t, before, "the start of the program took some")
	for Process() == before { // this does, too
	}
	require.Greater(t, Process(), before)
}

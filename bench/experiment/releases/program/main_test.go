package main

import (
	"flag"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every case runs and passes its own check with this module's versions.
func TestCasesRun(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime").Value
	t.Cleanup(func() { benchtime.Set("1s") })
	require.NoError(t, benchtime.Set("1x"))
	for _, c := range slices.Concat(queueCases(), cacheCases(), informerCases(), more) {
		t.Run(c.Component+"/"+c.Name, func(t *testing.T) {
			result := testing.Benchmark(c.run)
			require.Positive(t, result.N, "the case failed its own check")
			for _, unit := range []string{"ns/op", "cpu-ns/op", "B/op", "allocs/op"} {
				assert.Contains(t, result.Extra, unit)
			}
		})
	}
}

func TestBadArguments(t *testing.T) {
	assert.ErrorContains(t, run([]string{"queue"}), "found 1 arguments, expected list, or CASE ARM TIME")
	assert.ErrorContains(t, run([]string{"queue/op=x", "v1", "1x"}), `unknown case "queue/op=x"`)
}

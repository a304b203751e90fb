package reports

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/stretchr/testify/assert"
)

func TestScales(t *testing.T) {
	view := func(name, unit string) caseView { return caseView{Name: name, Unit: unit} }
	scales := newScales([]caseView{
		view("op=get/indices=0/n=10k", "cpu-sec/op"), view("op=get/indices=0/n=1M", "cpu-sec/op"), view("op=get/indices=4/n=10k", "cpu-sec/op"), view("op=get/indices=0/n=100", "cpu-sec/op"),
		view("op=write/listers=40", "sec/op"), view("op=write/listers=0", "sec/op"), view("op=write/listers=1", "cpu-sec/op"),
		view("op=cycle/keys=hot", "cpu-sec/op"), view("op=cycle/keys=10k", "cpu-sec/op"), view("", "sec/op"), view("n=1/n=2", "sec/op"),
	})
	var got [][]string
	for _, s := range scales {
		line := []string{s.Name}
		for _, p := range s.Points {
			line = append(line, p.Label)
		}
		got = append(got, line)
	}
	assert.Equal(t, [][]string{
		{"op=get/indices=0/n=…", "100", "10k", "1M"},
		{"op=get/indices=…/n=10k", "0", "4"},
		{"op=write/listers=…", "0", "40"},
	}, got, "longest first; unlike units and what is no number stay apart")
	assert.Equal(t, 3, scales[0].Points[0].Case)
}

func TestMemoryChartNeedsMemory(t *testing.T) {
	remembers := func(control bool, centers ...float64) bool {
		var rows []verdict.Row
		for _, center := range centers {
			rows = append(rows, verdict.Row{Arm: experiment.Arm{Control: control}, Metrics: map[string]verdict.Summary{liveBytes: {Center: center}}})
		}
		return component{Cases: []caseView{{stats: verdict.CaseStats{Rows: rows}}}}.Remembers()
	}
	assert.True(t, remembers(false, 0, 32))
	assert.False(t, remembers(false, 0, 0), "its axis is logarithmic")
	assert.False(t, remembers(false, math.Inf(1)))
	assert.False(t, remembers(true, 32), "the control's memory is the baseline's")
}

func TestFigureInJSON(t *testing.T) {
	b, err := json.Marshal([]figure{1.23456e-7, 66105, 0, unknown, figure(math.Inf(1))})
	assert.NoError(t, err)
	assert.Equal(t, "[1.235e-07,6.61e+04,0,null,null]", string(b))
}

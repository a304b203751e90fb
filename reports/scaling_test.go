package reports

import (
	"encoding/json"
	"math"
	"testing"

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

func TestFigureInJSON(t *testing.T) {
	b, err := json.Marshal([]figure{1.23456e-7, 66105, 0, unknown, figure(math.Inf(1))})
	assert.NoError(t, err)
	assert.Equal(t, "[1.235e-07,6.61e+04,0,null,null]", string(b))
}

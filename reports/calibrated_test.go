package reports

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/informerbench/informerbench/bench/experiment/calibration"
)

// A check that did not run yet found nothing, not 0%.
func TestCalibrationBeforeItsFirstRun(t *testing.T) {
	c := newCalibrated(calibration.Result{Checks: []calibration.Check{
		{Name: "planted", Planted: 0.1, Promise: 0.9, High: 1},
		{Name: "planted", Planted: 0.1, Promise: 0.9, Runs: 4, Hits: 2, Low: 0.1, High: 0.9},
	}}, true)
	assert.Equal(t, none, c.Table.Rows[0].Cells[1].Text)
	assert.Equal(t, none, c.Table.Rows[0].Cells[2].Text)
	assert.Equal(t, "50% found", c.Table.Rows[1].Cells[1].Text)
	assert.Equal(t, "10% to 90%", c.Table.Rows[1].Cells[2].Text)
}

package drive

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestNeedlessRuns(t *testing.T) {
	type run struct {
		at              time.Duration
		news, succeeded bool
	}
	const due = 10 * time.Second
	for name, c := range map[string]struct {
		due  time.Duration
		runs []run
		want int
	}{
		"the delayed add's own run is wanted":            {due, []run{{due, false, true}}, 0},
		"a change's run before it makes it needless":     {due, []run{{due / 2, true, true}, {due, false, true}}, 1},
		"but not if that run failed":                     {due, []run{{due / 2, true, false}, {due, false, true}}, 0},
		"a change that comes with it needs a run anyway": {due, []run{{due / 2, true, true}, {due, true, true}}, 0},
		"one delayed add makes one run":                  {due, []run{{due / 2, true, true}, {due, false, true}, {2 * due, false, true}}, 1},
		"a retry behind a change's success":              {0, []run{{time.Second, true, true}, {due, false, true}}, 1},
		"a retry without a change":                       {0, []run{{time.Second, false, true}}, 0},
	} {
		var n needless
		n.added("key", c.due)
		n.added("key", c.due+time.Hour) // the earlier one stays
		n.ran("other", 0, true, true)
		for _, r := range c.runs {
			n.ran("key", r.at, r.news, r.succeeded)
		}
		assert.Equal(t, c.want, n.count(), name)
	}
}

package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/drive"
)

// A driven is what the drives in drive/<arm>/<round>.json come to: the whole
// controller under load, one arm beside the other.
type driven struct {
	Workload string     `json:"-"`
	Stages   []stage    `json:"stages"` // the latencies that any arm has
	Arms     []driveArm `json:"arms"`
	Glance   *table     `json:"-"` // the few latencies that users feel
	Latency  *table     `json:"-"`
	Balance  *table     `json:"-"`
	Unsound  []string   `json:"-"` // arms with a round whose events are not all accounted for
}

// A stage is one of a drive's latencies.
type stage struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// stages says what the latencies of a drive mean, an event's in its order.
var stages = []stage{
	{drive.Watch, "from the moment an event was due until the watch had delivered it"},
	{drive.Store, "from the moment an event was due until the cache held it"},
	{drive.Enqueued, "from the moment an event was due until its key was in the work queue"},
	{drive.PickedUp, "from the moment an event was due until a worker that will see it held its key"},
	{drive.Reconciled, "from the moment an event was due until a reconcile that saw it ended, well or not"},
	{drive.Settled, "from the moment an event was due until a reconcile that saw it succeeded"},
	{drive.HandlerWait, "from the moment the cache held an event until its handler was called: the handler’s backlog"},
	{drive.OwnWrite, "from the moment an event was due until a client that waits for its own writes would have read it"},
	{drive.QueueWait, "from Add to Get, as workqueue_queue_duration_seconds"},
	{drive.Work, "from Get to Done, one a reconcile"},
	{drive.Throttle, "waiting for the client’s own rate limit, one an API call"},
	{drive.Staleness, "how old what a reader of the cache sees is"},
	{drive.Read, "one call of a reader beside the load"},
	{drive.Lateness, "how late the load itself was: latencies that are not far above it are in doubt"},
	{drive.Taken, "from the moment an event was due until the controller’s process took it: beside its lateness, how long the process’s goroutines waited for a processor"},
}

// A driveArm is one combination of variants over its rounds.
type driveArm struct {
	Name      string              `json:"name"`
	Control   bool                `json:"control,omitempty"`
	Baseline  bool                `json:"baseline,omitempty"`
	Latencies map[string][]bounds `json:"latencies"` // by stage, rising quantiles
	Round     int                 `json:"round"`     // whose timeline it is: the one with the median p99 of the settled events
	Ticks     [][]figure          `json:"ticks"`     // of that round, as thin lists them

	rounds []drive.Result
}

// bounds is one quantile over the rounds: quantile, median, smallest and
// largest in seconds.
type bounds [4]figure

// Limits that keep the page small and a broken file harmless.
const (
	maxDriveBytes = 16 << 20
	maxDrives     = 400
	maxArms       = 12
	maxTicks      = 240
)

// driveBaseline names the arm that a comparison of drives is against.
func driveBaseline(stats verdict.Stats) string {
	for _, c := range stats.Components {
		if c.Component == "drive" && len(c.Cases) > 0 {
			return c.Cases[0].Baseline
		}
	}
	return ""
}

// readDrives reads what drives left in root, nil if there were none. A file
// that cannot be read is a warning.
func readDrives(root *os.Root, baseline string) (*driven, []experiment.Warning) {
	files, _ := fs.Glob(root.FS(), "drive/*/*.json") // the pattern is well-formed
	var warnings []experiment.Warning
	warn := func(scope, format string, args ...any) {
		warnings = append(warnings, experiment.Warning{Scope: scope, Text: fmt.Sprintf(format, args...)})
	}
	if len(files) > maxDrives {
		warn("drive", "%d of its %d results are not shown to keep the page small", len(files)-maxDrives, len(files))
		files = files[:maxDrives]
	}
	d := &driven{}
	arms := map[string]*driveArm{}
	var order []string
	for _, file := range files {
		result, err := readDrive(root, file)
		if err != nil {
			warn(file, "not shown: %v", err)
			continue
		}
		name := cmp.Or(result.Arm, path.Base(path.Dir(file)))
		if arms[name] == nil {
			if len(arms) == maxArms {
				warn(file, "not shown: %d arms are what a chart can hold", maxArms)
				continue
			}
			arms[name] = &driveArm{Name: name, Control: strings.HasSuffix(name, experiment.ControlSuffix), Baseline: name == baseline}
			order = append(order, name)
		}
		arms[name].rounds = append(arms[name].rounds, result)
		d.Workload = cmp.Or(d.Workload, result.Workload)
	}
	if len(order) == 0 {
		return nil, warnings
	}
	for name, arm := range arms {
		_, twice := arms[name+experiment.ControlSuffix]
		arm.Baseline = arm.Baseline || baseline == "" && twice
	}
	slices.SortFunc(order, func(a, b string) int {
		place := func(name string) int {
			switch {
			case arms[name].Baseline:
				return 0
			case arms[name].Control:
				return 2
			}
			return 1
		}
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
	for _, name := range order {
		arm := arms[name]
		arm.merge()
		d.Arms = append(d.Arms, *arm)
		for _, r := range arm.rounds {
			if !r.Accounting.Sound() {
				d.Unsound = append(d.Unsound, fmt.Sprintf("%s, round %d: %s", name, r.Round, balanceText(r.Accounting)))
			}
		}
		for _, text := range arm.doubts() {
			warn("drive/"+name, "%s", text)
		}
	}
	d.Glance, d.Latency, d.Balance = glanceTable(d), latencyTable(d), balanceTable(d)
	return d, warnings
}

func readDrive(root *os.Root, file string) (drive.Result, error) {
	var result drive.Result
	f, err := root.Open(file)
	if err != nil {
		return result, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDriveBytes+1))
	if err != nil {
		return result, err
	}
	if len(data) > maxDriveBytes {
		return result, fmt.Errorf("larger than %d MiB", maxDriveBytes>>20)
	}
	if err := json.Unmarshal(data, &result); err != nil {
		return result, err
	}
	switch {
	case result.Schema > drive.SchemaVersion:
		return result, fmt.Errorf("schema %d is newer than this program's %d", result.Schema, drive.SchemaVersion)
	case result.Schema < 1 || len(result.Latencies) == 0:
		return result, errors.New("found no latencies, expected the result of a drive")
	}
	return result, nil
}

// merge puts the arm's rounds together.
func (a *driveArm) merge() {
	slices.SortFunc(a.rounds, func(x, y drive.Result) int { return cmp.Compare(x.Round, y.Round) })
	a.Latencies = map[string][]bounds{}
	for _, s := range stages {
		if curve := a.curve(s.Name); len(curve) > 0 {
			a.Latencies[s.Name] = curve
		}
	}
	byTail := slices.Clone(a.rounds)
	slices.SortStableFunc(byTail, func(x, y drive.Result) int {
		return cmp.Compare(x.Latency(drive.Settled).At(0.99), y.Latency(drive.Settled).At(0.99))
	})
	typical := byTail[(len(byTail)-1)/2]
	a.Round, a.Ticks = typical.Round, thin(typical.Timeline)
}

var digitRuns = regexp.MustCompile(`[0-9][0-9.]*(ns|µs|ms|s|m)?`)

// doubts are the rounds' warnings. Those that differ in their numbers only are
// one, with the first round's numbers.
func (a *driveArm) doubts() []string {
	rounds := map[string]int{}
	var order, texts []string
	for _, r := range a.rounds {
		for _, text := range r.Warnings {
			kind := digitRuns.ReplaceAllString(text, "")
			if rounds[kind]++; rounds[kind] == 1 {
				order, texts = append(order, kind), append(texts, fmt.Sprintf("round %d: %s", r.Round, text))
			}
		}
	}
	for i, kind := range order {
		if more := rounds[kind] - 1; more > 0 {
			texts[i] += fmt.Sprintf(" (and likewise in %s)", wording.Count(more, "more round"))
		}
	}
	return texts
}

// curve lists the quantiles that at least half of the rounds have enough
// values for.
func (a *driveArm) curve(name string) []bounds {
	values := map[float64][]float64{}
	var quantiles []float64
	for _, r := range a.rounds {
		for _, p := range r.Latency(name).Points {
			if p.Quantile < 0 || p.Quantile > 1 || p.Value < 0 {
				continue
			}
			if values[p.Quantile] == nil {
				quantiles = append(quantiles, p.Quantile)
			}
			values[p.Quantile] = append(values[p.Quantile], p.Value.Seconds())
		}
	}
	slices.Sort(quantiles)
	var curve []bounds
	for _, q := range quantiles {
		if v := values[q]; 2*len(v) >= len(a.rounds) {
			slices.Sort(v)
			middle := verdict.Summarise(v, 0.95).Center
			curve = append(curve, bounds{figure(q), figure(middle), figure(v[0]), figure(v[len(v)-1])})
		}
	}
	return curve
}

// at is the bounds of quantile q of a stage.
func (a *driveArm) at(name string, q float64) (bounds, bool) {
	for _, b := range a.Latencies[name] {
		if float64(b[0]) == q {
			return b, true
		}
	}
	return bounds{}, false
}

// thin puts a long timeline's ticks together until there are at most maxTicks:
// rates over their whole time, levels and latencies at their highest. A tick is
// its end in seconds, events sent and reconciles a second, work queue depth,
// events not settled, p99 of settled and of queue wait in seconds, processors in
// use and bytes of heap.
func thin(ticks []drive.Tick) [][]figure {
	each := max(1, (len(ticks)+maxTicks-1)/maxTicks)
	list := [][]figure{}
	var begin time.Duration
	for group := range slices.Chunk(ticks, each) {
		var sent, reconciles, depth, unsettled int
		var settled, wait time.Duration
		var heap int64
		var cpu float64
		for _, t := range group {
			sent, reconciles = sent+t.Sent, reconciles+t.Reconciles
			depth, unsettled = max(depth, t.Depth), max(unsettled, t.Unsettled)
			settled, wait, heap = max(settled, t.Settled99), max(wait, t.QueueWait), max(heap, t.Heap)
			cpu += t.CPU / float64(len(group))
		}
		end := group[len(group)-1].At
		if end <= begin {
			continue // a clock that stood still
		}
		length := (end - begin).Seconds()
		begin = end
		list = append(list, []figure{figure(end.Seconds()), figure(float64(sent) / length), figure(float64(reconciles) / length), figure(depth), figure(unsettled),
			figure(settled.Seconds()), figure(wait.Seconds()), figure(cpu), figure(heap)})
	}
	return list
}

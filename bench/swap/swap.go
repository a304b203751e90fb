// Package swap answers what a real program gains: the program is built once with
// client-go's queues and caches and with ours, an environment variable chooses which,
// and both are run under the same load in turns.
//
//	target     the program as its author has it: main, versions, key types
//	hooks      edits of copies of client-go's and controller-runtime's constructors
//	instances  the types that generic constructors are made for, by go/types
//	generate   the files that register what takes their place
//	library    our packages, as packages of the program's module
//	outside    likewise somebody's containers for client-go's own queues and caches
//	build      all of it given to go build as -overlay, -modfile or GOWORK
//	process    programs, servers and load commands, each in a process group
//	round      one arm under one load, told by the probe within the program
//	share      how much of the processor time could be gained at all
//	summary    what was swapped, who waited how long, whether both end alike
//
// The author's files are never written. Package probe is compiled into the program.
package swap

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/swap/probe"
	"golang.org/x/mod/modfile"
)

// Names in plans and results.
const (
	Component = "swap"
	Baseline  = "client-go"
	Unit      = "cpu-sec/op" // that the verdict is taken on
	// ProgramPart begins the name of the case.
	ProgramPart = "program="
	// LeastShare is the share of queues and caches below which a run is not worth it.
	LeastShare = 0.05
)

// Options say what is swapped and under which load.
type Options struct {
	Dir     string        // where go build and all commands run
	Main    string        // the main package, as go build takes it
	Name    string        // of the program and its load in results; "" is the main package's folder
	Args    []string      // of the program; $NAME is filled in from the round's variables
	Arms    []string      // besides the baseline, of probe.Arms
	Load    string        // a shell command that brings the load and returns
	Server  string        // a shell command that serves until SIGTERM, started anew for each round; "" for none
	Metrics string        // the URL of the program's metrics; "" for none
	State   string        // a shell command that prints the state to compare; "" for none
	Library string        // the folder of our library's source
	Outside string        // the folder of a package with others' containers, for the outside arm; "" for none
	Timeout time.Duration // for the server and the program to be ready, and for the program to be idle again
	Stop    time.Duration // for both to end after SIGTERM
}

// A Program is built and can be run in every arm.
type Program struct {
	options Options
	target  *target
	layout  layout
	left    []Unnamed
	lifted  []string
	outside string // the package whose containers the outside arm has
	binary  string
	logs    string // the folder of rounds and of the children's output
	rounds  map[string]int
	quiet   int // looks in a row
	done    []Round
}

// Source is the folder of our library beside this package's own source, or in a clone
// around the current folder; "" if it is in neither.
func Source() string {
	_, file, _, _ := runtime.Caller(0) // no path of this machine in a program built with -trimpath
	folder, err := os.Getwd()
	for _, root := range []string{filepath.Join(filepath.Dir(file), "..", ".."), folder} {
		for ; err == nil && filepath.IsAbs(root); root = filepath.Dir(root) {
			library := filepath.Join(root, "impl")
			if text, err := os.ReadFile(filepath.Join(library, "go.mod")); err == nil && modfile.ModulePath(text) == ours {
				return library
			}
			if root == filepath.Dir(root) {
				break
			}
		}
	}
	return ""
}

// Build reads the program, and builds it with all arms into temp, a folder that is
// the caller's to remove. say is told each step, which take minutes.
func Build(ctx context.Context, o Options, temp string, say func(string)) (*Program, error) {
	if platform != "" {
		return nil, errors.New(platform)
	}
	if o.Library == "" {
		return nil, errors.New("found no source of our library beside this program or around this folder: expected --library with its folder, impl of a clone")
	}
	say("reading " + o.Main)
	t, err := look(ctx, o.Dir, o.Main)
	if err != nil {
		return nil, err
	}
	p := &Program{options: o, target: t, rounds: map[string]int{}, quiet: quietFor}
	files := filepath.Join(temp, "build")
	if err := os.MkdirAll(files, 0o777); err != nil {
		return nil, err
	}
	outside, err := t.readOutside(ctx, o.Outside)
	if err != nil {
		return nil, err
	}
	if outside != nil {
		p.outside = outside.path
	}
	if p.layout, p.left, err = t.lay(o.Library, outside, files); err != nil {
		return nil, err
	}
	say("building " + t.pkg + " with all arms")
	if p.binary, err = t.build(ctx, p.layout, temp); err != nil {
		return nil, err
	}
	p.lifted, err = t.lifted(ctx, p.layout)
	return p, err
}

// Into says where rounds and the children's output are kept: folder swap of a result
// directory that exists by the first round.
func (p *Program) Into(dir string) { p.logs = filepath.Join(dir, Component) }

// Layout says how the program was built without touching its files.
func (p *Program) Layout() []string { return p.layout.how }

// Lifted lists the modules that both arms have in another version than the program.
func (p *Program) Lifted() []string { return p.lifted }

// Versions are those of the hooked modules.
func (p *Program) Versions() map[string]string {
	versions := map[string]string{}
	for name, u := range p.target.modules {
		versions[name] = u.Version
	}
	return versions
}

// Case is the comparison that a swap is in plans, raw.txt and reports.
func (p *Program) Case() experiment.PlannedCase {
	name := cmp.Or(p.options.Name, path.Base(p.target.pkg))
	c := experiment.PlannedCase{
		Component: Component, Name: ProgramPart + bench.Value(name), Unit: Unit, Baseline: Baseline,
		Summary: p.target.pkg + " under " + p.options.Load,
		Arms:    []experiment.Arm{{Name: Baseline, Variant: Baseline, Peer: true, Summary: "the program as it is"}},
	}
	for _, arm := range p.options.Arms {
		summary := "its " + strings.Join(probe.Arms[arm], " and ") + " swapped for ours"
		if arm == probe.Outside {
			summary = "client-go's queues and caches with the containers of " + p.outside
		}
		c.Arms = append(c.Arms, experiment.Arm{Name: arm, Variant: arm, Summary: summary})
	}
	control := c.Arms[0]
	control.Name, control.Control = Baseline+experiment.ControlSuffix, true
	c.Arms = append(c.Arms, control)
	return c
}

// Sampler runs one round of an arm. Rounds are kept in the result directory.
func (p *Program) Sampler() lab.Sampler {
	return func(ctx context.Context, c experiment.PlannedCase, a experiment.Arm) ([]byte, error) {
		if err := os.MkdirAll(p.logs, 0o777); err != nil {
			return nil, err
		}
		round := p.rounds[a.Name]
		p.rounds[a.Name]++
		r, err := p.run(ctx, a.Variant, a.Name, round)
		if err != nil {
			return nil, fmt.Errorf("%s, round %d: %w", a.Name, round, err)
		}
		p.done = append(p.done, r)
		file := filepath.Join(p.logs, fmt.Sprintf("%s-%d.json", a.Name, round))
		if err := atomicfile.WriteJSON(file, r); err != nil {
			return nil, err
		}
		return []byte(r.line(c)), nil
	}
}

// line is a round in the Go benchmark format: an operation is a load.
func (r Round) line(c experiment.PlannedCase) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s-%d\t1", bench.Case{Component: c.Component, Name: c.Name}.Benchmark(r.Arm), runtime.GOMAXPROCS(0))
	add := func(value float64, unit string) {
		fmt.Fprintf(&s, "\t%s %s", strconv.FormatFloat(max(value, 0), 'g', 8, 64), unit)
	}
	u := r.Used
	add(float64(u.CPU), "cpu-ns/op")
	add(float64(u.Bytes), "B/op")
	add(float64(u.Allocs), "allocs/op")
	add(float64(u.GCCPU), "gc-cpu-ns/op")
	add(float64(u.Collects), "collections/op")
	add(float64(u.PeakRSS), "rss-peak-B")
	add(float64(u.Heap), "heap-B")
	add(float64(u.Goroutines), "goroutines")
	items := int64(0)
	for _, t := range u.Things {
		if t.Queue != nil {
			items += t.Queue.Adds
		}
	}
	add(float64(items), "items/op")
	add(float64(r.Converge), "converge-ns")
	add(float64(r.StartCPU), "start-cpu-ns")
	add(float64(r.Ready), "ready-ns")
	if q, ok := busiest(u.Things); ok {
		add(float64(q.P50), "queue-wait-p50-ns")
		add(float64(q.P99), "queue-wait-p99-ns")
	}
	return s.String() + "\n"
}

// busiest is the traffic of the queue with the most of it.
func busiest(things []probe.Thing) (probe.Traffic, bool) {
	var most *probe.Traffic
	for _, t := range things {
		if q := t.Queue; q != nil && (most == nil || q.Adds > most.Adds) {
			most = q
		}
	}
	if most == nil || most.Adds == 0 {
		return probe.Traffic{}, false
	}
	return *most, true
}

// Load reads the rounds and the summary of a result directory; false if it holds no swap.
func Load(dir *os.Root) (Summary, bool, error) {
	var s Summary
	f, err := dir.Open(SummaryFile)
	if errors.Is(err, os.ErrNotExist) {
		return s, false, nil
	}
	if err != nil {
		return s, false, err
	}
	defer f.Close()
	text, err := experiment.ReadRecord(f)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, false, fmt.Errorf("%s: %w", SummaryFile, err)
	}
	return s, true, nil
}

// CheckArms refuses an unknown arm, and one that is there twice.
func CheckArms(arms []string) error {
	for i, arm := range arms {
		if parts := probe.Arms[arm]; len(parts) == 0 {
			return fmt.Errorf("found %q, expected library, %s, %s or %s", arm, probe.Queues, probe.Informers, probe.Outside)
		}
		if slices.Contains(arms[:i], arm) {
			return fmt.Errorf("found %s twice, expected different arms", arm)
		}
	}
	return nil
}

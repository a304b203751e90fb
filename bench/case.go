package bench

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/impl"
)

// A Case is one benchmark that every variant of a component runs in the same
// way, with the same keys from the same seed. Run verifies what the variant
// did (contents, counts) and fails b when it is wrong.
type Case struct {
	Component string              // "queue", "indexer", …: the catalogue's list
	Name      string              // key=value parts joined by "/": "op=cycle/keys=unique/n=10k"
	Summary   string              // one line: what the case forces
	Unit      string              // what the verdict is taken on, a tidied benchmark unit: "cpu-sec/op", "sec/op"
	Quick     bool                // part of the quick profile
	Headline  string              // what a headline says it is a ratio of: "the writes beside ten listers"; "" for cases that make none
	Variants  []string            // names in the component's catalogue list, in its order, of those that can run it
	About     []impl.Variant[any] // the component's catalogue list, without the constructors
	Baseline  string              // the variant that ratios are taken against: "client-go"
	Run       func(b *testing.B, variant string)
	Load      func(b *testing.B) // the same with a component that does nothing: what the load alone costs; may be nil
}

// Benchmark is the case's benchmark name for one variant, as go test prints
// it: "BenchmarkQueue/op=cycle/keys=unique/n=10k/impl=ring".
func (c Case) Benchmark(variant string) string {
	return "Benchmark" + title(c.Component) + "/" + c.Name + "/impl=" + variant
}

// title is a component's name as part of a Go identifier: "delta-fifo"
// becomes "DeltaFifo".
func title(component string) string {
	var s strings.Builder
	for part := range strings.SplitSeq(component, "-") {
		s.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return s.String()
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9.+_-]+`)

// Value makes any text, such as the name of a workload, fit for the value of a
// part of Case.Name: what can't stand in a benchmark's name becomes a dash.
func Value(text string) string { return notInNames.ReplaceAllString(text, "-") }

// Options says what the cases work on.
type Options struct {
	// Seed of the key sequences and, where the workload names none, of its
	// events; 0 means 1.
	Seed uint64
	// Workload is a preset or a spec file that the pipeline cases run instead
	// of the presets of their own.
	Workload string
	// Trace is a recording that the pipeline cases run instead of the embedded
	// one.
	Trace string
	// Cut is told, as the trace is validated, that its file was cut short and
	// where: what comes before is run. It may be nil.
	Cut func(error)
}

// The verdict's units.
const (
	cpuTime  = "cpu-sec/op" // contention-free cases: what the work costs
	wallTime = "sec/op"     // cases beside others: how long a caller waits
)

// Cases returns every case, component by component in the order of the way
// from a watch event to a reconcile. It fails if the workload or the trace
// can't be read.
func Cases(o Options) ([]Case, error) {
	if o.Seed == 0 {
		o.Seed = 1
	}
	pipeline, err := pipelineCases(o)
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, cases := range [][]Case{
		storageCases(), queueCases(o.Seed), priorityCases(o.Seed), delayCases(), limiterCases(), retryCases(o.Seed),
		fifoCases(), indexerCases(o.Seed), storeWriteCases(), informerCases(o.Seed), electorCases(), pipeline,
	} {
		all = append(all, cases...)
	}
	return all, nil
}

// human writes a count as case names do: 100, 10k, 1M.
func human(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000 && n%1_000 == 0:
		return fmt.Sprintf("%dk", n/1_000)
	}
	return fmt.Sprint(n)
}

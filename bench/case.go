package bench

import "testing"

// A Case is one benchmark that every variant of a component runs in the same
// way, with the same keys from the same seed. Run verifies what the variant
// did (contents, counts) and fails b when it is wrong, so a fast wrong answer
// is not a result.
type Case struct {
	Component string   // "queue", "indexer", …: the catalogue's list
	Name      string   // key=value parts joined by "/": "op=cycle/keys=unique/n=10k"
	Summary   string   // one line: what the case forces
	Unit      string   // what the verdict is taken on, a tidied benchmark unit: "cpu-sec/op", "sec/op"
	Quick     bool     // part of the quick profile
	Variants  []string // names in the component's catalogue list, in its order
	Baseline  string   // the variant that ratios are taken against: "client-go"
	Run       func(b *testing.B, variant string)
}

// Benchmark is the case's benchmark name for one variant, as go test prints
// it: "BenchmarkQueue/op=cycle/keys=unique/impl=ring".
func (c Case) Benchmark(variant string) string {
	return "Benchmark" + exported(c.Component) + "/" + c.Name + "/impl=" + variant
}

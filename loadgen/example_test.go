package loadgen_test

import (
	"fmt"

	"github.com/informerbench/informerbench/loadgen"
)

// A workload of one's own: 90% of the updates go to 1% of the pods.
func ExampleParseSpec() {
	spec, err := loadgen.ParseSpec("mine.yaml", []byte(`
duration: 2s
resources:
  - kind: pod
    count: 500
    skew: {kind: hotset, fraction: 0.01, share: 0.9}
    events:
      mix: {update: 1}
      arrivals: {kind: constant, rate: 100}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	population, load, err := spec.ListWatch()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(population), "pods")
	for range 2 {
		event, err := load.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.At, event.Type, event.Object.GetNamespace(), event.Object.GetResourceVersion())
	}
	// Output:
	// 500 pods
	// 0s MODIFIED team-0 501
	// 10ms MODIFIED team-0 502
}

func ExampleParseSpec_error() {
	_, err := loadgen.ParseSpec("rolling.yaml", []byte("resources:\n- count: 10\n  skew: {kind: zip}\n"))
	fmt.Println(err)
	// Output: rolling.yaml:3: resources[0].skew.kind: unknown value "zip", expected uniform, zipf, lognormal, hotset or movinghotset
}

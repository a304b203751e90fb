package swap

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metricNames lists what a program's metrics page has: each family, and of those with a
// label "name", as work queues have, each of that label's values too.
func metricNames(ctx context.Context, client *http.Client, url string) ([]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the program's metrics: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the program's metrics: found %s at %s, expected 200", answer.Status, url)
	}
	return namesIn(answer.Body)
}

func namesIn(text io.Reader) ([]string, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("the program's metrics: %w", err)
	}
	var names []string
	for family, metrics := range families {
		for _, m := range metrics.Metric {
			name := family
			for _, l := range m.Label {
				if l.GetName() == "name" {
					name = fmt.Sprintf("%s{name=%q}", family, l.GetValue())
				}
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// metricsDiffer says what metrics the rounds of an arm have more or fewer than those of the
// baseline. One that a round of the baseline lacks too is none of the arm's doing.
func metricsDiffer(baseline, arm []Round) []string {
	count := func(rounds []Round) map[string]int {
		n := map[string]int{}
		for _, r := range rounds {
			for _, name := range r.Metrics {
				n[name]++
			}
		}
		return n
	}
	theirs, mine := count(baseline), count(arm)
	var list []string
	for name, n := range theirs {
		if n == len(baseline) && mine[name] == 0 {
			list = append(list, "lacks "+name)
		}
	}
	for name, n := range mine {
		if n == len(arm) && theirs[name] == 0 {
			list = append(list, "adds "+name)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return -strings.Compare(a, b) }) // what is lacking first
	return list
}

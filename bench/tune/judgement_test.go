package tune

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// judgement is the page.
func judgement(all []judgedSystem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# How far to trust `benchrun tune`\n\nWritten by `make judge`: %d controllers were drawn by seeds from %d, simulated by the tests' plain simulator (which shares nothing with the one that predicts), measured for 15 minutes to an hour and tuned.\n\n", len(all)/max(1, len(strings.Split(*scrapings, ","))), *freshFrom)
	b.WriteString("## Predictions\n\nEach controller is predicted for one worker more and fewer, twice as many, and a higher limit. The oracle is the true system at the rate that was measured, which may be off by chance as much as any.\n\n")
	b.WriteString("| kind | scrapes | systems | rate, service time and utilisation within 10% | predictions | p99 of the wait within 25% | of the oracle | in the 95% interval | time of a fit, median and longest |\n|---|---|---|---|---|---|---|---|---|\n")
	rows(all, func(kind string, scrapes int, of []judgedSystem) {
		var sum judgedSystem
		exact := 0
		var took []time.Duration
		for _, v := range of {
			if v.exact {
				exact++
			}
			sum.near, sum.held, sum.of, sum.oracle = sum.near+v.near, sum.held+v.held, sum.of+v.of, sum.oracle+v.oracle
			took = append(took, v.took)
		}
		slices.Sort(took)
		oracle := ""
		if kind == "batch" || kind == "on/off" {
			oracle = share(sum.oracle, sum.of)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s | %s | %s | %.1f, %.1f s |\n", kind, scrapes, len(of), exact, sum.of, share(sum.near, sum.of), oracle, share(sum.held, sum.of), took[len(took)/2].Seconds(), took[len(took)-1].Seconds())
	})
	b.WriteString("\n| form of arrivals that was found | predictions | in the 95% interval | with intervals so many times as wide, 95% would be |\n|---|---|---|---|\n")
	misses := map[string][]float64{}
	for _, v := range all {
		for form, list := range v.misses {
			misses[form] = append(misses[form], list...)
		}
	}
	for _, form := range slices.Sorted(maps.Keys(misses)) {
		list := slices.Sorted(slices.Values(misses[form]))
		inside, _ := slices.BinarySearch(list, 1)
		fmt.Fprintf(&b, "| %s | %d | %.0f%% | %.2f |\n", form, len(list), 100*float64(inside)/float64(len(list)), list[min(len(list)-1, len(list)*95/100)])
	}
	b.WriteString("\n## Recommendations\n\nFrom two scrapes. Each controller is given an objective on the p99 of the wait that some number of workers keeps by up to 30%. What is recommended is compared with every setting of a grid, each simulated.\n\n")
	b.WriteString("| kind | systems | at most a tenth dearer than the cheapest | the objective is kept to a tenth | both |\n|---|---|---|---|---|\n")
	wished := slices.DeleteFunc(slices.Clone(all), func(v judgedSystem) bool { return !v.wished })
	rows(wished, func(kind string, _ int, of []judgedSystem) {
		cheap, kept, both := 0, 0, 0
		for _, v := range of {
			if v.cheap {
				cheap++
			}
			if v.kept {
				kept++
			}
			if v.cheap && v.kept {
				both++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", kind, len(of), share(cheap, len(of)), share(kept, len(of)), share(both, len(of)))
	})
	return b.String()
}

// rows calls row with the systems of each kind and of all, by their scrapes.
func rows(all []judgedSystem, row func(kind string, scrapes int, of []judgedSystem)) {
	for _, text := range strings.Split(*scrapings, ",") {
		var scrapes int
		_, _ = fmt.Sscan(text, &scrapes) // read before
		for _, kind := range append(slices.Clone(kinds), "all") {
			var of []judgedSystem
			for _, v := range all {
				if v.scrapes == scrapes && (kind == "all" || v.kind == kind) {
					of = append(of, v)
				}
			}
			if len(of) > 0 {
				row(kind, scrapes, of)
			}
		}
	}
}

func share(n, of int) string {
	return fmt.Sprintf("%d (%.0f%%)", n, 100*float64(n)/float64(max(1, of)))
}

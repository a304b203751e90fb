package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"$`\\*?&|;<>()#~") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}

func runFacts(run experiment.Run) []fact {
	plan := run.Plan
	facts := []fact{{"Profile", cmp.Or(plan.Profile, none)}}
	if plan.Workload != "" {
		facts = append(facts, fact{"Workload", plan.Workload})
	}
	if plan.Trace != "" {
		facts = append(facts, fact{"Trace", plan.Trace})
	}
	facts = append(facts, fact{"Seed", fmt.Sprint(plan.Seed)})
	if !run.Started.IsZero() {
		facts = append(facts, fact{"Started", run.Started.UTC().Format("2006-01-02 15:04:05 UTC")})
		if !run.Finished.IsZero() {
			facts = append(facts, fact{"Took", wording.Elapsed(run.Finished.Sub(run.Started))})
		}
	}
	failed := 0
	for _, s := range run.Schedule {
		if s.Failure != "" {
			failed++
		}
	}
	samples := fmt.Sprintf("%d, each a fresh process", len(run.Schedule))
	if failed > 0 {
		samples += fmt.Sprintf("; %d failed", failed)
	}
	for _, m := range run.Machines {
		facts = append(facts, fact{"Shard " + m.Shard, fmt.Sprintf("%s, %s, GOMAXPROCS %d, kernel %s: %s", cmp.Or(m.Environment.CPU, "unknown CPU"),
			wording.Count(m.Environment.Cores, "core"), m.Environment.GOMAXPROCS, m.Environment.Kernel, wording.Count(len(m.Cases), "case"))})
	}
	return append(facts, fact{"Samples", samples},
		fact{"Wanted precision", "±" + wording.Percent(plan.Precision)},
		fact{"Budget", budget(plan)},
		fact{"Stopped", stopped(run)})
}

func budget(plan experiment.Plan) string {
	text := wording.Count(plan.MaxRounds, "round")
	if plan.MinRounds < plan.MaxRounds {
		text = fmt.Sprintf("%d to %s", plan.MinRounds, text)
	}
	if plan.Budget > 0 {
		text = wording.Elapsed(plan.Budget.Round(time.Second)) + ", " + text
	}
	return text
}

// stopped says in words why sampling ended.
func stopped(run experiment.Run) string {
	switch run.Stopped {
	case "precision":
		if run.Dropped() {
			return "the wanted precision was reached, where samples did not fail"
		}
		return "the wanted precision was reached"
	case "budget":
		return "the time budget was spent"
	case "rounds":
		return "all rounds were done"
	case "interrupted":
		return "interrupted: what was sampled until then is shown"
	case "":
		return "the run did not end in order: what was sampled until then is shown"
	}
	return run.Stopped
}

func environmentFacts(e experiment.Environment) []fact {
	facts := []fact{
		{"CPU", cmp.Or(e.CPU, none)},
		{"Cores", fmt.Sprintf("%d, GOMAXPROCS %d", e.Cores, e.GOMAXPROCS)},
	}
	if e.Memory > 0 {
		facts = append(facts, fact{"Memory", fmt.Sprintf("%.1f GiB", float64(e.Memory)/(1<<30))})
	}
	return append(facts,
		fact{"System", strings.TrimSpace(e.OS + "/" + e.Arch + " " + e.Kernel)},
		fact{"Go", cmp.Or(e.Go, none)})
}

func versionFacts(versions map[string]string) []fact {
	var facts []fact
	for _, module := range slices.Sorted(maps.Keys(versions)) {
		facts = append(facts, fact{module, versions[module]})
	}
	return facts
}

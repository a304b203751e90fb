package reports

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/bench/tune/lease"
	"github.com/informerbench/informerbench/loadgen/sim/failover"
)

var (
	//go:embed assets/election.js
	electionJS string
	//go:embed assets/election.html.tmpl
	electionHTML string
)

var electionTemplate = template.Must(template.New("election.html").Funcs(template.FuncMap{"share": wording.Percent}).Parse(shellHTML + electionHTML))

// WriteElection writes recommended settings of leader election into the directory dir:
// election.json for machines (see package schema), election.md for pull requests and
// report.html. Each file appears whole or not at all.
func WriteElection(dir string, a lease.Advice) error {
	html, err := renderElectionHTML(a)
	if err != nil {
		return fmt.Errorf("report.html: %w", err)
	}
	return writeAdvice(dir, "election", a, renderElectionMarkdown(a), html)
}

// electionPage is what the page shows beside the advice.
type electionPage struct {
	*lease.Advice
	shell
	Effects []lease.Effect
	Paste   []lease.Snippet
	Shares  []float64 // of the runs, the columns of Times
	Times   []electionTimes
	Data    electionData
}

// electionTimes are the distribution of the time until another leads.
type electionTimes struct {
	After, Settings string
	Runs            int64
	Seconds         []float64 // one for each share
}

// electionShares are each tenth, and the tail.
var electionShares = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1}

// electionData is what the page's script draws from.
type electionData struct {
	Charts   []chart         `json:"charts"` // none, but the report's script looks for them
	Election []electionChart `json:"election"`
}

type electionChart struct {
	Title string         `json:"title"`
	Lines []electionLine `json:"lines"` // the current settings first
}

type electionLine struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"` // seconds, share of the runs
}

// electionScenarios are those that end with another leader, or a first one.
var electionScenarios = []struct {
	scenario failover.Scenario
	after    string
}{
	{failover.Crash, "a crash"}, {failover.Release, "a clean end"}, {failover.Partition, "a partition"}, {failover.Start, "a start"},
}

func renderElectionHTML(a lease.Advice) ([]byte, error) {
	p := electionPage{
		Advice: &a, shell: newShell("informerbench: leader election", electionJS),
		Effects: lease.Effects(a), Paste: lease.Paste(a.Recommended), Shares: electionShares, Data: electionData{Election: []electionChart{}},
	}
	for _, s := range electionScenarios {
		c := electionChart{Title: "Time to a leader after " + s.after}
		for _, of := range []struct {
			name     string
			settings failover.Settings
			results  []failover.Result
		}{{"current", a.Current, a.Before}, {"recommended", a.Recommended, a.After}} {
			for _, r := range of.results {
				if r.Config.Scenario != s.scenario || r.Failover.Count == 0 {
					continue
				}
				row := electionTimes{After: s.after, Settings: fmt.Sprintf("%s, %v", of.name, of.settings), Runs: r.Failover.Count}
				for _, share := range electionShares {
					row.Seconds = append(row.Seconds, r.Failover.At(share).Seconds())
				}
				p.Times = append(p.Times, row)
				line := electionLine{Name: of.name}
				for _, x := range r.Failover.Points {
					line.Points = append(line.Points, [2]float64{x.Value.Seconds(), x.Quantile})
				}
				c.Lines = append(c.Lines, line)
			}
		}
		if len(c.Lines) > 0 {
			p.Data.Election = append(p.Data.Election, c)
		}
	}
	var buf bytes.Buffer
	err := electionTemplate.Execute(&buf, p)
	return buf.Bytes(), err
}

func renderElectionMarkdown(a lease.Advice) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Leader election\n\n%s\n\nElector %s, %d runs of each scenario, seed %d. Times are p50 / p99 / max.\n\n", text(a.Summary()), text(a.Elector), a.World.Runs, a.World.Seed)
	b.WriteString(mdHeader("figure", "current", "recommended") + "\n")
	for _, e := range lease.Effects(a) {
		b.WriteString(mdRow(e.Figure, e.Now, e.Then) + "\n")
	}
	for _, p := range lease.Paste(a.Recommended) {
		fmt.Fprintf(&b, "\n%s:\n\n```\n%s```\n", p.For, p.Text)
	}
	return b.Bytes()
}

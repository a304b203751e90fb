// Package reports shows what an experiment found: report.html for people,
// report.md for pull requests, stats.csv for spreadsheets.
//
// Steps, in order:
//
//  1. page.go turns a run and its statistics into the page that both reports
//     print: decision, confidence, rankings, tables, all text already
//     formatted;
//  2. profiles.go reads the CPU profiles beside them and folds each into a
//     small flame graph and its top functions; drive.go reads the drives and
//     merges their rounds; swap.go reads what a swap left; charts.go and
//     scaling.go choose the figures that charts are drawn from;
//  3. html.go and markdown.go print the page, csv.go the plain numbers.
//
// The reports are derived: raw.txt, run.json and stats.json are the evidence,
// and writing a report again from them gives the same page.
//
// Apache ECharts 6.1.0 (assets/echarts.min.js, unchanged from the npm package)
// draws the charts; its licence and notice are beside it.
package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/calibration"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/experiment/verdict"
	"github.com/informerbench/informerbench/bench/swap"
)

// Write writes report.html, report.md and stats.csv into the result directory
// dir. Each file appears whole or not at all. A profile or a drive that cannot
// be read is a warning in the report; a directory that cannot be written is an
// error.
func Write(dir string, run experiment.Run, stats verdict.Stats) error {
	if run.Schema > experiment.SchemaVersion || stats.Schema > experiment.SchemaVersion {
		return fmt.Errorf("%s: schema %d is newer than this program's %d: use the version that wrote it",
			dir, max(run.Schema, stats.Schema), experiment.SchemaVersion)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("result directory: %w", err)
	}
	defer root.Close()

	profiles, warnings := readProfiles(root, stats, newTelling(run, stats))
	drives, doubts := readDrives(root, driveBaseline(stats))
	warnings = append(warnings, doubts...)
	in := newInput(root, run, profiles, drives)
	in.swap, doubts = readSwap(root)
	warnings = append(warnings, doubts...)
	if result, own, err := calibration.For(dir); err != nil {
		warnings = append(warnings, experiment.Warning{Scope: "calibration", Text: "not shown: " + err.Error()})
	} else {
		in.calibration = newCalibrated(result, own)
	}
	in.stats = stats
	in.stats.Warnings = slices.Concat(stats.Warnings, warnings)
	html, err := fit(in, renderHTML, maxPageBytes)
	if err != nil {
		return fmt.Errorf("report.html: %w", err)
	}
	markdown, err := fit(in, renderMarkdown, maxMarkdown)
	if err != nil {
		return fmt.Errorf("report.md: %w", err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{
		{"stats.csv", renderCSV(stats)},
		{"report.md", markdown},
		{"report.html", html},
	} {
		if err := writeText(filepath.Join(dir, f.name), f.data); err != nil {
			return err
		}
	}
	return nil
}

// fit renders the page with as many cases as there is room for in limit bytes.
func fit(in input, render func(*page) ([]byte, error), limit int) ([]byte, error) {
	for rows := maxRows; ; rows /= 2 {
		out, err := render(newPage(in, rows))
		if err != nil || len(out) <= limit || rows == 0 {
			return out, err
		}
	}
}

// What report.html holds at most. A page of maxRows variants in all cases
// comes to about half of maxPageBytes, the chart library to a third.
const maxRows, maxPageBytes = 1500, 3_000_000

// A link is one file of the result directory that the reports point to.
type link struct{ Name, What string }

var resultFiles = []link{
	{"raw.txt", "every sample, in the Go benchmark format"},
	{"run.json", "plan, environment, versions, schedule"},
	{"stats.json", "medians, intervals, verdicts"},
	{"stats.csv", "the same numbers as a table"},
	{"report.md", "this report for a pull request"},
	{"profiles", "CPU, heap, mutex and block profiles"},
	{"drive", "each drive: accounting, latencies, timeline"},
	{swap.SummaryFile, "what was swapped, queue waits, the state at the end"},
	{swap.Component, "each round: what the program used, queue by queue, and what it printed"},
}

// An input is all that a page is made of.
type input struct {
	name     string // of the result directory
	run      experiment.Run
	stats    verdict.Stats
	profiles *profileSet
	drive    *driven
	swap     *swapped

	calibration *calibrated
	links       []link
}

func newInput(root *os.Root, run experiment.Run, profiles *profileSet, drives *driven) input {
	in := input{name: filepath.Base(root.Name()), run: run, profiles: profiles, drive: drives, links: existing(root, resultFiles)}
	if abs, err := filepath.Abs(root.Name()); err == nil {
		in.name = filepath.Base(abs)
	}
	return in
}

// existing keeps the links that lead somewhere. The reports themselves are
// about to be written and always do.
func existing(root *os.Root, links []link) []link {
	var kept []link
	for _, l := range links {
		_, err := root.Stat(l.Name)
		if err == nil || l.Name == "stats.csv" || l.Name == "report.md" {
			kept = append(kept, l)
		}
	}
	return kept
}

// writeText writes a report in which no name gives commands to its reader.
func writeText(path string, data []byte) error {
	return atomicfile.Write(path, []byte(plain.Text(string(data))))
}

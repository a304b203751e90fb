package app

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// benchmarkLine is a drive in the Go benchmark format: an operation is an event.
func benchmarkLine(c experiment.PlannedCase, arm string, r drive.Result) string {
	n := float64(max(r.Accounting.Sent, 1))
	var s strings.Builder
	fmt.Fprintf(&s, "%s-%d\t%d", bench.Case{Component: c.Component, Name: c.Name}.Benchmark(arm), runtime.GOMAXPROCS(0), max(r.Accounting.Sent, 1))
	add := func(value float64, unit string) {
		fmt.Fprintf(&s, "\t%s %s", strconv.FormatFloat(max(value, 0), 'g', 6, 64), unit)
	}
	add(float64(r.Load+r.Drain)/n, "ns/op")
	add(float64(r.Usage.CPU-r.Usage.Burnt)/n, "cpu-ns/op")
	add(float64(r.Usage.Allocated)/n, "B/op")
	add(float64(r.Usage.Allocs)/n, "allocs/op")
	add(float64(r.Usage.GCCPU)/n, "gc-cpu-ns/op")
	add(float64(r.Usage.MutexWait)/n, "mutex-wait-ns/op")
	add(float64(r.Usage.Sched99), "sched-p99-ns")
	add(float64(r.Usage.HeapPeak), "heap-peak-B")
	add(n/max(r.Load, 1).Seconds(), "events/s")
	add(float64(r.Accounting.Reconciles)/max(r.Load+r.Drain, 1).Seconds(), "reconciles/s")
	add(float64(r.Accounting.Failures), "retries")
	for _, name := range []string{drive.Store, drive.QueueWait, drive.Reconciled, drive.Settled, drive.Staleness, drive.Lateness} {
		if d := r.Latency(name); d.Count > 0 {
			add(float64(d.At(0.5)), name+"-p50-ns")
			add(float64(d.At(0.99)), name+"-p99-ns")
		}
	}
	return s.String() + "\n"
}

// stages say in the table what a latency ends with.
var stages = map[string]string{
	drive.Watch:       "due → delivered by the watch",
	drive.Store:       "due → in the cache",
	drive.Enqueued:    "due → key enqueued",
	drive.PickedUp:    "due → picked up by a worker",
	drive.Reconciled:  "due → first reconcile ended",
	drive.Settled:     "due → successful reconcile ended",
	drive.HandlerWait: "in the cache → its handler called",
	drive.OwnWrite:    "due → readable by who wrote it",
	drive.FirstList:   "start → first list's object reconciled",
	drive.QueueWait:   "Add → Get",
	drive.Work:        "Get → Done",
	drive.Throttle:    "wait for the client's rate limit",
	drive.Staleness:   "age of what a reader of the last change sees",
	drive.Read:        "one read beside the load",
	drive.Lateness:    "due → released by the load",
	drive.Taken:       "due → taken by this process",
}

func latencyTable(r drive.Result) table {
	t := table{value: r, header: []string{"latency", "from → to", "count", "p50", "p90", "p99", "p99.9", "max"}}
	for _, d := range r.Latencies {
		row := []string{d.Name, stages[d.Name], strconv.FormatInt(d.Count, 10)}
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
			row = append(row, durations.Text(d.At(q)))
		}
		t.rows = append(t.rows, append(row, durations.Text(d.Max)))
	}
	return t
}

// printDrive is the end of a single drive: what became of the events, the
// latencies, what it cost, and whether it balances.
func printDrive(w io.Writer, r drive.Result, out output) error {
	if out != "table" {
		return out.print(w, latencyTable(r))
	}
	a := r.Accounting
	printLine(w, "%s, %s: %s in %s, %.0f/s, %s; drained in %s", r.Workload, r.Arm, wording.Count(a.Sent, "event"), durations.Text(r.Load),
		float64(a.Sent)/max(r.Load, 1).Seconds(), wording.Count(r.Setup.Workers, "worker"), durations.Text(r.Drain))
	fmt.Fprintf(w, "sent %d = delivered %d + coalesced %d + lost %d; reconciles %d, failed %d, given up %d, requeued %d, needless %d, API calls %d\n\n",
		a.Sent, a.Delivered, a.Coalesced, a.Lost, a.Reconciles, a.Failures, a.GivenUp, a.Requeued, a.Needless, a.APICalls)
	if err := out.print(w, latencyTable(r)); err != nil {
		return err
	}
	u := r.Usage
	fmt.Fprintf(w, "\nCPU %s (%s an event; service times %s), GC %s, heap at most %s, allocated %s, waits for locks %s, for a processor p99 %s\n",
		durations.Text(u.CPU), durations.Text((u.CPU-u.Burnt)/time.Duration(max(a.Sent, 1))), durations.Text(u.Burnt),
		durations.Text(u.GCCPU), bytesText(u.HeapPeak), bytesText(u.Allocated), durations.Text(u.MutexWait), durations.Text(u.Sched99))
	late := r.Latency(drive.Lateness)
	fmt.Fprintf(w, "load: %s an event by itself, %s of the CPU time; late by p50 %s, p99 %s",
		durations.Text(r.Generator.PerEvent), wording.Percent(r.Generator.Share), durations.Text(late.At(0.5)), durations.Text(late.At(0.99)))
	if alone := r.Generator.Lateness; alone > 0 {
		fmt.Fprintf(w, "; without the controller, at 10,000/s, p99 %s", durations.Text(alone))
	}
	fmt.Fprintln(w)
	for _, warning := range r.Warnings {
		printLine(w, "warning: %s", warning)
	}
	return nil
}

// printFailure says what does not balance.
func printFailure(w io.Writer, a drive.Accounting) {
	fmt.Fprintf(w, "FAILED: sent %d, delivered %d, coalesced %d; lost %d, last state unseen of %s, backwards %d, two workers at once %d\n",
		a.Sent, a.Delivered, a.Coalesced, a.Lost, wording.Count(a.Stale, "object"), a.Backwards, a.Together)
	for _, bad := range a.Bad {
		printLine(w, "  %s", bad)
	}
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

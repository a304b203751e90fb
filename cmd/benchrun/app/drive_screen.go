package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/durations"
)

// A driveScreen shows a drive while it runs: one screen that is written over on
// a terminal, a line every few seconds elsewhere.
type driveScreen struct {
	mu       sync.Mutex
	w        io.Writer
	title    string
	terminal int    // its width, 0 if it is none
	lines    int    // on the screen now
	phase    string // of the last line
	last     time.Time
	depths   []int // of the last seconds
}

func newDriveScreen(w io.Writer, title string) *driveScreen {
	w = plain.Unwrap(w) // it gives the terminal commands
	return &driveScreen{w: w, title: plain.Line(title), terminal: terminalWidth(w)}
}

// sparkline is how many seconds of depth the screen shows.
const sparkline = 60

func (s *driveScreen) show(p drive.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terminal == 0 {
		if p.Phase == "done" || p.Phase == s.phase && time.Since(s.last) < plainEvery {
			return
		}
		s.phase, s.last = p.Phase, time.Now()
		fmt.Fprintln(s.w, plainLine(p))
		return
	}
	if p.Phase == "load" || p.Phase == "drain" {
		s.depths = append(s.depths, p.Tick.Depth)
		s.depths = s.depths[max(0, len(s.depths)-sparkline):]
	}
	s.draw(s.screen(p))
}

// plainLine is a second of a drive for a log.
func plainLine(p drive.Progress) string {
	if p.Phase == "sync" {
		return "waiting for the first list"
	}
	t := p.Tick
	return fmt.Sprintf("%s %s: sent %d (%d/s), seen %d, %d reconciles/s, depth %d, settled p50 %s p99 %s, heap %s",
		timeOf(p), p.Phase, p.Sent, t.Sent, p.Seen, t.Reconciles, t.Depth, durations.Text(t.Settled50), durations.Text(t.Settled99), bytesText(t.Heap))
}

func timeOf(p drive.Progress) string {
	text := p.Elapsed.Round(time.Second).String()
	if p.Of > 0 {
		text += " of " + p.Of.Round(time.Second).String()
	}
	return text
}

func (s *driveScreen) screen(p drive.Progress) []string {
	t := p.Tick
	if p.Phase == "sync" {
		return []string{s.title, "waiting for the first list"}
	}
	return []string{
		s.title,
		fmt.Sprintf("%s, %s", timeOf(p), p.Phase),
		fmt.Sprintf("events      %8d/s   sent %d, seen %d, not settled %d", t.Sent, p.Sent, p.Seen, t.Unsettled),
		fmt.Sprintf("reconciles  %8d/s   busy workers %.0f, retries %d/s", t.Reconciles, t.Busy, t.Retries),
		fmt.Sprintf("settled     p50%-9s p99%-9s   queue wait p99 %s", durations.Text(t.Settled50), durations.Text(t.Settled99), durations.Text(t.QueueWait)),
		fmt.Sprintf("process     %.2f CPUs, heap %s", t.CPU, bytesText(t.Heap)),
		fmt.Sprintf("depth       %8d     %s", t.Depth, bars(s.depths)),
	}
}

// bars draws values as a line of blocks, the largest as a full one.
func bars(values []int) string {
	blocks := []rune(" ▁▂▃▄▅▆▇█")
	most := slices.Max(append([]int{1}, values...))
	var s strings.Builder
	for _, v := range values {
		s.WriteRune(blocks[(v*(len(blocks)-1)+most-1)/most])
	}
	return s.String()
}

// draw writes the lines over the ones before.
func (s *driveScreen) draw(lines []string) {
	var out strings.Builder
	if s.lines > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", s.lines)
	}
	for _, line := range lines {
		fmt.Fprintf(&out, "\r\x1b[K%s\n", cutLine(line, s.terminal))
	}
	s.lines = len(lines)
	io.WriteString(s.w, out.String())
}

// clear takes the screen away, so that the result stands where it was.
func (s *driveScreen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines > 0 {
		fmt.Fprintf(s.w, "\x1b[%dA\r\x1b[J", s.lines)
		s.lines = 0
	}
}

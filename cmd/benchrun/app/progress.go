package app

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/bench/experiment/wording"
	"golang.org/x/term"
)

// plainEvery is how often a log gets a line.
const plainEvery = 5 * time.Second

// A progressLine is one line that is written over on a terminal, and a line
// every few seconds elsewhere.
type progressLine struct {
	mu       sync.Mutex
	w        io.Writer
	terminal int // its width, 0 if it is none
	last     time.Time
}

func newProgressLine(w io.Writer) *progressLine {
	w = plain.Unwrap(w) // it gives the terminal commands
	return &progressLine{w: w, terminal: terminalWidth(w)}
}

// terminalWidth is 0 of what is no terminal.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// cutLine keeps of a line what a terminal of that width has room for.
func cutLine(line string, width int) string {
	if runes := []rune(line); len(runes) >= width {
		return string(runes[:width-1])
	}
	return line
}

func (p *progressLine) show(x lab.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := plainEvery
	if p.terminal > 0 {
		every = 100 * time.Millisecond
	}
	if time.Since(p.last) < every {
		return
	}
	p.last = time.Now()
	line := fmt.Sprintf("%s elapsed", x.Elapsed.Round(time.Second))
	if x.Left > 0 && x.Left < time.Hour {
		line += fmt.Sprintf(", at most %s left", x.Left.Round(time.Second))
	}
	if x.Done > 0 {
		line += ", " + wording.Count(x.Done, "sample")
	}
	if x.Failed > 0 {
		line += fmt.Sprintf(" (%d failed)", x.Failed)
	}
	line += ", " + plain.Line(x.Doing)
	if p.terminal == 0 {
		fmt.Fprintln(p.w, line)
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", cutLine(line, p.terminal))
}

// done clears the line on a terminal.
func (p *progressLine) done() {
	if p.terminal > 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

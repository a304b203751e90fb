package apiserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A process is one run of the child.
type process struct {
	command *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Reader
	output  *tail
	done    chan struct{} // closed when the child has ended
	err     error         // how it ended, to be read after done
}

func startProcess(options Options, folder string, listener *os.File, flags []string) (*process, error) {
	p := &process{
		command: exec.Command(options.Binary, append(flags, options.Flags...)...),
		output:  &tail{next: options.Log},
		done:    make(chan struct{}),
	}
	p.command.Dir = folder
	p.command.ExtraFiles = []*os.File{listener}
	p.command.Stderr = p.output
	var err error
	if p.orders, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	answers, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.answers = bufio.NewReader(answers)
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		if p.err = p.command.Wait(); p.err == nil {
			p.err = errors.New("exit status 0")
		}
	}()
	return p, nil
}

// order sends the child one order and returns its answer.
func (p *process) order(name string) (string, error) {
	if _, err := fmt.Fprintln(p.orders, name); err != nil {
		return "", fmt.Errorf("%s: the API server has ended: %w", name, err)
	}
	answer, err := p.answers.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: the API server has ended: %w", name, err)
	}
	return strings.TrimSpace(answer), nil
}

// stopWithin is how long the child has to end what it serves.
const stopWithin = 5 * time.Second

// stop ends the child, by force if it takes too long.
func (p *process) stop() {
	p.orders.Close()
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.command.Process.Kill()
		<-p.done
	}
}

// A tail passes on what is written to it and keeps the end, for errors.
type tail struct {
	next io.Writer
	mu   sync.Mutex
	kept []byte
}

const keep = 16 << 10 // bytes

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next != nil {
		t.next.Write(b) // a log that fails must not stop the server
	}
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - keep; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(b), nil
}

// Tail returns the last lines.
func (t *tail) Tail() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.kept)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

package swap

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// leftFor is how long what a program started may take to end after it.
const leftFor = time.Second / 2

// wordsKept is how many bytes at the end of a log are searched for why.
const wordsKept = 64 << 10

// A process is a child in a process group of its own, whose output goes to a file.
type process struct {
	what  string // "the program", "the load", for errors
	cmd   *exec.Cmd
	log   string
	done  chan struct{} // closed when the child has ended
	err   error         // how, to be read after done
	guard func()        // ends the one that kills the group if this process dies
	once  sync.Once     // that the group was killed
}

// start runs a command line. Whoever starts it ends it with wait, end or kill.
func start(what, dir, log string, env []string, output *os.File, argv ...string) (*process, error) {
	p := &process{what: what, cmd: exec.Command(argv[0], argv[1:]...), log: log, done: make(chan struct{})}
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = file, file
	if output != nil {
		p.cmd.Stdout = output
	}
	inOwnGroup(p.cmd)
	watch, end, err := guard()
	if err != nil {
		return nil, err
	}
	p.guard = end
	if err := p.cmd.Start(); err != nil {
		end()
		return nil, fmt.Errorf("%s does not start: %w", what, err)
	}
	err = watch(p.cmd.Process.Pid)
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
	}()
	if err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// guard starts a shell that kills a process group when its standard input ends without
// a word, as it does when this process is killed. It is there before the group is, so
// that nobody is unguarded for as long as a shell takes to start.
func guard() (watch func(group int) error, end func(), err error) {
	cmd := exec.Command("/bin/sh", "-c", `read -r group || exit; read -r word; [ "$word" = end ] || kill -KILL "-$group"`)
	inOwnGroup(cmd) // a Ctrl-C is not for it
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("no shell to guard children: %w", err)
	}
	watched := false
	watch = func(group int) error {
		watched = true
		if _, err := fmt.Fprintln(input, group); err != nil {
			return fmt.Errorf("the shell that guards children has ended: %w", err)
		}
		return nil
	}
	return watch, sync.OnceFunc(func() {
		if watched {
			_, _ = io.WriteString(input, "end\n") // it may be gone, killed by a user
		}
		input.Close()
		_ = cmd.Wait()
	}), nil
}

// sweep kills what is left of the child's group, once: its number may be another's later.
func (p *process) sweep() {
	p.once.Do(func() {
		killGroup(p.cmd.Process.Pid)
		p.guard()
	})
}

// wait waits for the end of a child that ends by itself; when ctx ends first, it is
// killed with all that it started.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
		return ctx.Err()
	}
	p.sweep() // it left it running
	if p.err != nil {
		return fmt.Errorf("%s failed: %w: %s (its output is in %s)", p.what, p.err, p.lastWords(), p.log)
	}
	return nil
}

// end asks the child to stop, with all that a shell started for it if group is set.
// What does not stop within a time, or leaves others behind, is killed and is an error.
func (p *process) end(ctx context.Context, group bool, within time.Duration) error {
	select {
	case <-p.done:
		p.sweep()
		return fmt.Errorf("%s ended by itself, %w: %s (its output is in %s)", p.what, cmp.Or(p.err, errors.New("exit status 0")), p.lastWords(), p.log)
	default:
	}
	terminate(p.cmd.Process.Pid, group)
	timer := time.NewTimer(within)
	defer timer.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	done := p.done
	for done != nil || alive(p.cmd.Process.Pid) {
		select {
		case <-done:
			if done = nil; !group {
				timer.Reset(leftFor)
			}
		case <-tick.C:
		case <-ctx.Done():
			p.kill()
			return ctx.Err()
		case <-timer.C:
			p.kill()
			if done == nil && !group {
				return fmt.Errorf("%s stopped and left processes behind, which would keep its ports and disturb the next round: they were killed, expected none", p.what)
			}
			return fmt.Errorf("%s did not stop within %s of SIGTERM and was killed: expected it to stop, as in a cluster", p.what, within)
		}
	}
	p.sweep()
	if word := p.panicked(); word != "" {
		return fmt.Errorf("%s ended with %s (its output is in %s)", p.what, word, p.log)
	}
	return nil
}

// kill ends the child and all that it started.
func (p *process) kill() {
	p.sweep()
	<-p.done
}

// tail is the end of what the child printed.
func (p *process) tail() []byte {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return nil
	}
	return text[max(0, len(text)-wordsKept):]
}

func (p *process) panicked() string {
	for line := range bytes.Lines(p.tail()) {
		if s := strings.TrimSpace(string(line)); strings.HasPrefix(s, "panic: ") || strings.HasPrefix(s, "fatal error: ") {
			return s
		}
	}
	return ""
}

// lastWords is the line that says why the child failed, or else its last one.
func (p *process) lastWords() string {
	if word := p.panicked(); word != "" {
		return word
	}
	last := "no output"
	for line := range bytes.Lines(p.tail()) {
		if s := strings.TrimSpace(string(line)); s != "" {
			last = s
		}
	}
	return last
}

// panics counts the panics that the child's handlers caught and logged.
func (p *process) panics() int {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("Observed a panic"))
}

// runShell runs a command line of the author's to its end and returns what it printed on
// its standard output.
func runShell(ctx context.Context, what, command, dir, log string, env []string) ([]byte, error) {
	out, err := os.CreateTemp(filepath.Dir(log), "out-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	p, err := start(what, dir, log, env, out, "/bin/sh", "-c", command)
	if err != nil {
		return nil, err
	}
	if err := p.wait(ctx); err != nil {
		return nil, err
	}
	return os.ReadFile(out.Name())
}

// startServer runs a command that serves until it is ended, and returns the variables
// that it prints when it is ready, as "export NAME=VALUE".
func startServer(ctx context.Context, command, dir, log string, within time.Duration) (*process, []string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	p, err := start("the server", dir, log, nil, write, "/bin/sh", "-c", command)
	write.Close()
	if err != nil {
		read.Close()
		return nil, nil, err
	}
	exported := make(chan string, 1)
	go func() {
		defer read.Close()
		for lines := bufio.NewScanner(read); lines.Scan(); {
			if text, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "export "); ok {
				exported <- text
				break
			}
		}
		_, _ = io.Copy(io.Discard, read) // it must not block on what nobody reads
	}()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case variable := <-exported:
		return p, []string{variable}, nil
	case <-p.done:
		return nil, nil, p.end(ctx, true, within)
	case <-timer.C:
		p.kill()
		return nil, nil, fmt.Errorf("the server printed no line \"export NAME=VALUE\" within %s: expected one when it is ready (its output is in %s)", within, log)
	case <-ctx.Done():
		p.kill()
		return nil, nil, ctx.Err()
	}
}

package swap

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/swap/probe"
)

// How often a program is asked whether it is idle, and how many times in a row it has
// to be: what the load has written takes a moment to arrive.
const (
	lookEvery = 50 * time.Millisecond
	quietFor  = 10
)

// A Round is one arm under one load.
type Round struct {
	Arm      string        `json:"arm"` // the plan's name of it
	Round    int           `json:"round"`
	Ready    time.Duration `json:"readyNanoseconds"`    // from the start until every cache is complete and no queue busy
	StartCPU time.Duration `json:"startCPUNanoseconds"` // until then
	Load     time.Duration `json:"loadNanoseconds"`     // that the load command took
	Converge time.Duration `json:"convergeNanoseconds"` // from its start until no queue is busy
	Panics   int           `json:"panics"`              // that handlers caught and logged
	Used     probe.State   `json:"used"`                // from the load's start on; heap, RSS and goroutines at the end
	State    string        `json:"state"`               // a hash of what --state printed, "" without
	Metrics  []string      `json:"metrics,omitempty"`   // the names on the program's metrics page at the end
}

// A session is a program that runs beside its server.
type session struct {
	program, server *process
	dir             string // of the socket
	env             []string
	client          *http.Client
	began           time.Time
	quiet           int           // how many looks in a row have to find it idle
	stop            time.Duration // within which both end when they are asked to
}

// open starts the server and the program in an arm, and returns when it is ready.
func (p *Program) open(ctx context.Context, arm, name string, round int) (_ *session, err error) {
	s := &session{stop: p.options.Stop, quiet: p.quiet}
	if s.dir, err = os.MkdirTemp("", "swap-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.abandon()
		}
	}()
	s.env = []string{probe.ArmVariable + "=" + arm, "INFORMERBENCH_ROUND=" + strconv.Itoa(round)}
	if p.options.Server != "" {
		var variables []string
		if s.server, variables, err = startServer(ctx, p.options.Server, p.options.Dir, p.log(name, round, "server"), p.options.Timeout); err != nil {
			return nil, err
		}
		s.env = append(s.env, variables...)
	}
	socket := filepath.Join(s.dir, "probe")
	s.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	env := append(s.env[:len(s.env):len(s.env)], probe.SocketVariable+"="+socket)
	s.began = time.Now()
	if s.program, err = start("the program", p.options.Dir, p.log(name, round, "program"), env, nil, append([]string{p.binary}, expand(p.options.Args, env)...)...); err != nil {
		return nil, err
	}
	_, err = s.idle(ctx, p.options.Timeout, "ready: every informer complete and no queue busy")
	return s, err
}

// abandon ends everything at once.
func (s *session) abandon() {
	for _, child := range []*process{s.program, s.server} {
		if child != nil {
			child.kill()
		}
	}
	os.RemoveAll(s.dir)
}

// close stops the program, then the server.
func (s *session) close(ctx context.Context) error {
	defer s.abandon()
	if err := s.program.end(ctx, false, s.stop); err != nil {
		return err
	}
	if s.server != nil {
		return s.server.end(ctx, true, s.stop)
	}
	return nil
}

// expand fills in variables of the round, as $KUBECONFIG, in the program's arguments.
func expand(args, env []string) []string {
	var list []string
	for _, a := range args {
		list = append(list, os.Expand(a, func(name string) string {
			for _, v := range env {
				if len(v) > len(name) && v[:len(name)] == name && v[len(name)] == '=' {
					return v[len(name)+1:]
				}
			}
			return os.Getenv(name)
		}))
	}
	return list
}

// ask gets an answer of the probe.
func (s *session) ask(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://probe"+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, body)
	}
	return body, err
}

func (s *session) state(ctx context.Context, path string) (probe.State, error) {
	var state probe.State
	text, err := s.ask(ctx, path)
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(text, &state)
}

// idle waits until the program is complete and not busy, and returns since when.
func (s *session) idle(ctx context.Context, within time.Duration, what string) (time.Time, error) {
	timer, tick := time.NewTimer(within), time.NewTicker(lookEvery)
	defer timer.Stop()
	defer tick.Stop()
	var since time.Time
	for quiet := 0; ; {
		state, err := s.state(ctx, "/state")
		switch {
		case err != nil || len(state.Things) == 0 || !state.Synced || state.Busy:
			quiet = 0
		case quiet == 0:
			quiet, since = 1, time.Now()
		default:
			quiet++
		}
		if quiet == s.quiet {
			return since, nil
		}
		select {
		case <-tick.C:
		case <-s.program.done:
			return since, s.program.end(ctx, false, s.stop)
		case <-ctx.Done():
			return since, ctx.Err()
		case <-timer.C:
			return since, fmt.Errorf("the program was not %s within %s: %s (its output is in %s)", what, within, waitsFor(state, err), s.program.log)
		}
	}
}

// waitsFor says what a program lacks to be idle.
func waitsFor(state probe.State, err error) string {
	if err != nil {
		return "its probe does not answer, " + err.Error()
	}
	if len(state.Things) == 0 {
		return "it made no queue and no informer"
	}
	for _, t := range state.Things {
		if t.Cache != nil && !t.Cache.Synced {
			return fmt.Sprintf("the informer of %s has no initial list", t.Name)
		}
	}
	return "a queue is still busy"
}

// load brings the load and waits until the program has settled.
func (p *Program) load(ctx context.Context, s *session, r *Round) error {
	began := time.Now()
	if _, err := runShell(ctx, "the load command", p.options.Load, p.options.Dir, p.log(r.Arm, r.Round, "load"), s.env); err != nil {
		return err
	}
	r.Load = time.Since(began)
	since, err := s.idle(ctx, p.options.Timeout, "idle after the load")
	if err != nil {
		return err
	}
	r.Converge = since.Sub(began)
	return nil
}

// run is one round of an arm.
func (p *Program) run(ctx context.Context, arm, name string, round int) (Round, error) {
	r := Round{Arm: name, Round: round}
	s, err := p.open(ctx, arm, name, round)
	if err != nil {
		return r, err
	}
	defer s.abandon()
	before, err := s.state(ctx, "/state")
	if err != nil {
		return r, err
	}
	if _, err := s.ask(ctx, "/reset"); err != nil {
		return r, err
	}
	r.Ready, r.StartCPU = time.Since(s.began), before.CPU
	if err := p.load(ctx, s, &r); err != nil {
		return r, err
	}
	if r.Used, err = s.state(ctx, "/state?end"); err != nil {
		return r, err
	}
	if peak := peakMemory(s.program.cmd.Process.Pid); peak > 0 {
		r.Used.PeakRSS = peak
	}
	r.Used.CPU -= before.CPU
	r.Used.GCCPU -= before.GCCPU
	r.Used.Allocs -= before.Allocs
	r.Used.Bytes -= before.Bytes
	r.Used.Collects -= before.Collects
	if p.options.State != "" {
		text, err := runShell(ctx, "the command that prints the state", p.options.State, p.options.Dir, p.log(name, round, "state"), s.env)
		if err != nil {
			return r, err
		}
		r.State = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	if p.options.Metrics != "" {
		if r.Metrics, err = metricNames(ctx, http.DefaultClient, p.options.Metrics); err != nil {
			return r, err
		}
	}
	if err := s.close(ctx); err != nil {
		return r, err
	}
	r.Panics = s.program.panics()
	return r, nil
}

// peakMemory is the most memory that a process had resident, as Linux tells it; what
// getrusage says there may be of the process that started it. 0 elsewhere.
func peakMemory(pid int) (bytes int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscanf(line, "%d kB", &bytes); err != nil {
		return 0
	}
	return bytes << 10
}

// log is where a child's output goes.
func (p *Program) log(arm string, round int, what string) string {
	return filepath.Join(p.logs, fmt.Sprintf("%s-%d-%s.log", arm, round, what))
}

//go:build unix

package swap

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/informerbench/informerbench/bench/swap/probe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is the program of a round where it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv(probe.SocketVariable) == "" {
		os.Exit(m.Run())
	}
	if err := manager(); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

// manager is a program with hooks, without what they would be in: as many items go
// through its queue as each line of a pipe says.
func manager() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fault := os.Getenv("PROGRAM_FAULT")
	switch {
	case fault == "ends":
		return fmt.Errorf("no such flag: --example")
	case fault == "panics" && probe.Swaps(probe.Queues):
		panic("it was swapped")
	}
	thing := probe.Made("NewQueue", "pods", "string")
	if probe.Swaps(probe.Queues) {
		thing.SetHow(probe.Swapped)
	}
	queue := thing.MeasureQueue()
	keys := []string{"a"}
	if fault == "loses-keys" && probe.Swaps(probe.Queues) {
		keys = nil
	}
	probe.Made("NewInformer", "*v1.Pod", "").WatchCache(func() bool { return fault != "no-list" }, func() []string { return keys })
	probe.Serve()
	events, err := os.OpenFile(os.Getenv("PROGRAM_EVENTS"), os.O_RDWR, 0) // so that it never ends
	if err != nil {
		return err
	}
	done, err := os.OpenFile(os.Getenv("PROGRAM_DONE"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	go func() {
		for lines := bufio.NewScanner(events); lines.Scan(); fmt.Fprintln(done, "done") {
			n, _ := strconv.Atoi(lines.Text())
			for range n {
				queue.Depth(1)
				queue.Add()
				queue.Depth(-1)
				queue.Get(1e-3)
				queue.Done(2e-3)
			}
			fmt.Println("E1126 Observed a panic: of a handler")
		}
	}()
	<-ctx.Done()
	if fault == "leaves-a-child" {
		return exec.Command("sleep", "1000").Start()
	}
	return nil
}

// newRounds is a Program that is this test.
func newRounds(t *testing.T) *Program {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	for _, name := range []string{"PROGRAM_EVENTS", "PROGRAM_DONE"} {
		pipe := filepath.Join(t.TempDir(), "pipe")
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		t.Setenv(name, pipe)
	}
	p := &Program{target: &target{pkg: "example.com/cmd/manager", module: "example.com"}, binary: program, rounds: map[string]int{}, quiet: 2, options: Options{
		Dir: t.TempDir(), Arms: []string{"library"}, Timeout: long, Stop: long,
		Server: "echo export ADDRESS=here; exec sleep 1000", Load: "echo 40 > $PROGRAM_EVENTS; read -r done < $PROGRAM_DONE", State: "echo $ADDRESS",
	}}
	p.Into(t.TempDir())
	return p
}

// A round counts what the program does from the load's start on, and what it is at the end.
func TestRound(t *testing.T) {
	p := newRounds(t)
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "workqueue_depth{name=\"pods\"} 0") }))
	defer metrics.Close()
	p.options.Metrics = metrics.URL
	c := p.Case()
	for _, arm := range c.Arms {
		line, err := p.Sampler()(t.Context(), c, arm)
		require.NoError(t, err)
		assert.Regexp(t, `^BenchmarkSwap/program=manager/impl=`+arm.Name+`-\d+\t1\t[\d.e+]+ cpu-ns/op\t`, string(line))
	}
	s, err := p.Summarise(t.TempDir(), Share{})
	require.NoError(t, err)
	assert.True(t, s.Alike, s.Ends)
	assert.Equal(t, map[string]int{Baseline: 1, Baseline + "-again": 1, "library": 1}, s.Panics)
	assert.Equal(t, Coverage{Arm: "library", Constructor: "NewQueue", Made: 1, Swapped: 1, Adds: 40, SwappedAdds: 40, Traffic: 1}, s.Coverage[1])
	r := p.done[1]
	assert.Equal(t, []string{`workqueue_depth{name="pods"}`}, r.Metrics)
	assert.NotEmpty(t, r.State)
	assert.Positive(t, r.Used.Heap)
	assert.Positive(t, r.Converge)

	share, err := p.Profile(t.Context(), t.TempDir())
	if err != nil { // of so short a load
		assert.ErrorContains(t, err, "used no processor time under the load")
	}
	assert.Zero(t, share.Direct)
}

// What goes wrong in a round is one clear error, and no process is left.
func TestFaults(t *testing.T) {
	for name, x := range map[string]struct {
		fault, arm, want string
		change           func(*Options)
	}{
		"program ends":       {fault: "ends", want: "client-go, round 0: the program ended by itself, exit status 1: manager: no such flag: --example"},
		"program leaves one": {fault: "leaves-a-child", want: "client-go, round 0: the program stopped and left processes behind"},
		"program panics":     {fault: "panics", arm: "library", want: "library, round 0: the program ended by itself, exit status 2: panic: it was swapped"},
		"never ready": {fault: "no-list", want: "the program was not ready: every informer complete and no queue busy within 2s: ",
			change: func(o *Options) { o.Timeout = 2e9 }},
		"load fails in one arm": {arm: "library", want: "library, round 0: the load command failed: exit status 3: no quota",
			change: func(o *Options) { o.Load = "test $INFORMERBENCH_ARM = client-go || { echo no quota >&2; exit 3; }" }},
		"server fails": {want: "client-go, round 0: the server ended by itself, exit status 4: no port", change: func(o *Options) { o.Server = "echo no port >&2; exit 4" }},
		"state fails":  {want: "the command that prints the state failed: exit status 5", change: func(o *Options) { o.State = "exit 5" }},
		"no metrics":   {want: "the program's metrics: ", change: func(o *Options) { o.Metrics = "http://127.0.0.1:1/metrics" }},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRounds(t)
			t.Setenv("PROGRAM_FAULT", x.fault)
			if x.change != nil {
				x.change(&p.options)
			}
			c := p.Case()
			arm := c.Arms[0]
			if x.arm != "" {
				arm = c.Arms[1]
			}
			_, err := p.Sampler()(t.Context(), c, arm)
			assert.ErrorContains(t, err, x.want)
		})
	}
}

// An arm that ends with other objects is noticed.
func TestOtherEnd(t *testing.T) {
	p := newRounds(t)
	t.Setenv("PROGRAM_FAULT", "loses-keys")
	for _, arm := range p.Case().Arms[:2] {
		_, err := p.Sampler()(t.Context(), p.Case(), arm)
		require.NoError(t, err)
	}
	s, err := p.Summarise(t.TempDir(), Share{})
	require.NoError(t, err)
	assert.False(t, s.Alike)
	assert.Equal(t, "library, round 0 ends with another number of *v1.Pod than client-go", s.Ends)
}

// A round that is interrupted while its load runs ends everything.
func TestInterrupted(t *testing.T) {
	p := newRounds(t)
	began := filepath.Join(t.TempDir(), "began")
	require.NoError(t, syscall.Mkfifo(began, 0o600))
	p.options.Load = "echo began > " + began + "; sleep 1000"
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(began) // which waits for the load
		cancel()
		read <- err
	}()
	_, err := p.Sampler()(ctx, p.Case(), p.Case().Arms[0])
	assert.ErrorIs(t, err, context.Canceled)
	assert.NoError(t, <-read)
}

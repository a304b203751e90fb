package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/atomicfile"
	"github.com/informerbench/informerbench/bench/experiment/plain"
	"github.com/informerbench/informerbench/loadgen/drive"
	"github.com/informerbench/informerbench/loadgen/pace"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// resultFile is where a drive's full result is.
func resultFile(dir, arm string, round int) string {
	return filepath.Join(dir, "drive", arm, strconv.Itoa(round)+".json")
}

// writeResult writes a drive's full result.
func writeResult(path string, r drive.Result) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.WriteJSON(path, r)
}

// driveOnce drives in this process, live on the screen.
func (s Suite) driveOnce(cmd *cobra.Command, l driveCommandLine, load driveLoad, arm driveArm) error {
	c, err := driveCase(load.name, l.by, []driveArm{arm})
	if err != nil {
		return err
	}
	l.job.Arm, l.job.Parts = arm.Name, arm.parts
	config := l.job.config(load)
	if err := (&reportDir{l.dir, "drive"}).check(); err != nil {
		return err
	}
	config.Pacer = newPacer(cmd, l.job.Speed)
	begins := fmt.Sprintf("%s, seed %d", arm.Name, l.job.Seed)
	if l.metricsAddr != "" {
		config.Registry = prometheus.NewRegistry()
		address, stop, err := serveMetrics(l.metricsAddr, config.Registry)
		if err != nil {
			return fmt.Errorf("--metrics-addr: %w", err)
		}
		defer stop()
		begins += fmt.Sprintf(", metrics at http://%s/metrics", address)
	}
	dir := "" // made when the load is known to be good
	config.Ready = func() (err error) {
		if dir, err = resultDir(l.dir, "drive"); err == nil {
			err = os.MkdirAll(dir, 0o777)
		}
		if err == nil {
			printLine(cmd.ErrOrStderr(), "%s, into %s", begins, dir)
		}
		return err
	}
	screen := newDriveScreen(cmd.ErrOrStderr(), "drive "+load.name+": "+arm.Name)
	config.Progress = screen.show
	quiet()
	begin := time.Now()
	result, err := drive.Run(cmd.Context(), config)
	screen.clear()
	if err != nil && result.Accounting.Sent == 0 {
		discard(dir)
		// A verdict on the controller:
		if errors.Is(err, drive.ErrNeverSynced) {
			fmt.Fprintf(cmd.ErrOrStderr(), "failed: %s\n", plain.Line(err.Error()))
			return errGate
		}
		return err
	}
	finished := result.Started.Add(time.Since(begin))
	run := driveRecord(cmd, l, load, c)
	l.dir, run.Finished = dir, finished
	return s.showDrive(cmd, l, run, result, err)
}

// showDrive shows what was measured until err, even if the disk is full, or somebody
// else has written into the directory meanwhile.
func (s Suite) showDrive(cmd *cobra.Command, l driveCommandLine, run experiment.Run, result drive.Result, err error) error {
	wrote := usable(l.dir)
	if wrote == nil {
		wrote = s.keep(l.dir, run, result)
	}
	wrote = errors.Join(err, wrote)
	if err := errors.Join(printDrive(cmd.OutOrStdout(), result, l.out), wrote); err != nil {
		return err
	}
	if l.out == "table" {
		fmt.Fprintf(cmd.OutOrStdout(), "Report: %s\n", filepath.Join(l.dir, "report.html"))
	}
	if !result.Accounting.Sound() {
		printFailure(cmd.ErrOrStderr(), result.Accounting)
		return errGate
	}
	return nil
}

// newPacer returns a pacer in a process of its own, which this one's goroutines
// can't hold up, and where there is none, or nothing to pace, that of the drive.
func newPacer(cmd *cobra.Command, speed float64) *pace.Pacer {
	if speed == 0 {
		return nil
	}
	program, err := self("pace")
	if err != nil {
		return nil
	}
	p, err := pace.NewProcess(exec.Command(program[0], program[1:]...))
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "the load is paced by this process: %v\n", err)
		return nil
	}
	return p
}

// paceCommand is the process that paces a drive's load.
func paceCommand() *cobra.Command {
	return &cobra.Command{
		Use: "pace", Short: "Answer moments when they have come", Hidden: true, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pace.Serve(cmd.InOrStdin(), plain.Unwrap(cmd.OutOrStdout()))
		},
	}
}

// quiet keeps client-go from writing over the screen: what its reflectors tell
// of faults is counted in the result.
func quiet() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// resultDir is where a result goes: dir, which has to be new or empty, or by
// default a new directory named after the time and the kind of result. That is
// made at once, so that no other process takes it.
func resultDir(dir, kind string) (string, error) {
	if dir != "" {
		return dir, checkOut(dir)
	}
	first := filepath.Join("reports", "out", time.Now().UTC().Format("20060102T150405Z")+"-"+kind)
	if err := os.MkdirAll(filepath.Dir(first), 0o777); err != nil {
		return "", err
	}
	dir = first
	for n := 2; ; n++ {
		err := os.Mkdir(dir, 0o777)
		if !errors.Is(err, os.ErrExist) {
			return dir, err
		}
		dir = fmt.Sprintf("%s-%d", first, n)
	}
}

// discard removes a result directory that stayed empty, and with it what stays empty
// of the default place.
func discard(dir string) {
	for os.Remove(dir) == nil && strings.HasPrefix(dir, "reports"+string(filepath.Separator)) {
		dir = filepath.Dir(dir)
	}
}

// checkOut is usable for what --out names.
func checkOut(dir string) error {
	if err := usable(dir); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// usable refuses a result directory that holds files or can't be written to,
// before the minutes whose result it is for. It makes none yet.
func usable(dir string) error {
	entries, err := os.ReadDir(dir)
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty (it holds %s), expected a new or empty directory", dir, entries[0].Name())
	}
	for errors.Is(err, os.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		_, err = os.Stat(dir)
	}
	if err != nil {
		return err
	}
	probe, err := os.MkdirTemp(dir, ".benchrun-")
	if err != nil {
		if what := (*os.PathError)(nil); errors.As(err, &what) {
			err = what.Err // not of the name that is tried
		}
		return fmt.Errorf("%s can't be written to: %w", dir, err)
	}
	return os.Remove(probe)
}

// serveMetrics serves a registry until stop and, to this machine alone, live
// profiles.
func serveMetrics(address string, registry *prometheus.Registry) (at string, stop func(), err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, fmt.Errorf("found %q, expected HOST:PORT or :PORT", address)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if at, ok := listener.Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it ends when it is closed
	return listener.Addr().String(), func() { server.Close(); serving.Wait() }, nil
}

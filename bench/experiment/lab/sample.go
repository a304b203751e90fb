package lab

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/informerbench/informerbench/bench"
)

// This file is the child's side: one process, one benchmark.

// RunSample runs one case, count times, and ends the process. It prints on stdout what go
// test -bench prints, under the arm's name, and exits with 1 if the case
// failed. It goes through testing.Main, so that a sample is measured by the
// very code that go test runs, b.Loop and failure messages included.
func RunSample(c bench.Case, variant, arm string, sampleTime time.Duration, count int) error {
	testing.Init()
	for name, value := range map[string]string{
		"test.run": "^$", "test.bench": ".", "test.benchmem": "true", "test.benchtime": sampleTime.String(),
		"test.count": strconv.Itoa(count),
	} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	every := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(every, nil, []testing.InternalBenchmark{{
		Name: c.Benchmark(arm),
		F: panicEnds(func(b *testing.B) {
			if variant == bench.NullSink {
				c.Load(b)
			} else {
				c.Run(b, variant)
			}
		}),
	}}, nil)
	return nil
}

// panicEnds lets a panic of run end the process where it is caught. Further
// up, package testing takes the benchmark for done while the panic passes, and
// may print a figure, and exit with 0, before the runtime ends the process. An
// error has no way past package testing, and b.Fail would let -test.count run the
// benchmark again with what the panic left.
func panicEnds(run func(b *testing.B)) func(b *testing.B) {
	return func(b *testing.B) {
		defer func() {
			if r := recover(); r != nil {
				fmt.Fprintf(os.Stderr, "panic: %v\n\n%s", r, debug.Stack())
				os.Exit(2)
			}
		}()
		run(b)
	}
}

// Kinds of profiles that RunProfile writes.
var profileKinds = []string{"cpu", "heap", "mutex", "block"}

// RunProfile runs one case with all profilers on and writes
// DIR/{cpu,heap,mutex,block}.pb.gz. Its times are not samples.
func RunProfile(c bench.Case, variant, dir string, sampleTime time.Duration) error {
	testing.Init()
	if err := flag.Set("test.benchtime", sampleTime.String()); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	cpu, err := os.Create(filepath.Join(dir, "cpu.pb.gz"))
	if err != nil {
		return err
	}
	defer cpu.Close()
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(int(time.Microsecond))
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	result := testing.Benchmark(panicEnds(func(b *testing.B) { c.Run(b, variant) }))
	pprof.StopCPUProfile()
	if result.N == 0 {
		return fmt.Errorf("%s failed while it was profiled", c.Benchmark(variant))
	}
	for _, kind := range profileKinds[1:] {
		f, err := os.Create(filepath.Join(dir, kind+".pb.gz"))
		if err != nil {
			return err
		}
		if err := pprof.Lookup(kind).WriteTo(f, 0); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if err := cpu.Sync(); err != nil {
		return err
	}
	for _, kind := range profileKinds {
		if err := forgetFolders(filepath.Join(dir, kind+".pb.gz")); err != nil {
			return err
		}
	}
	return nil
}

// forgetFolders cuts the names of programs and libraries in a profile down to
// their last part: results are passed on, and folders are nobody's business.
func forgetFolders(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, m := range p.Mapping {
		m.File = filepath.Base(m.File)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(p.Write(f), f.Close())
}

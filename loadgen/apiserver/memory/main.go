// Command memory holds the predictions of benchrun memory against real programs. It
// is run in folder loadgen/apiserver:
//
//	go build -C ../.. -o /tmp/benchrun ./cmd/benchrun
//	go run ./memory -benchrun /tmp/benchrun -page ../../reports/results/memory.md
//
// What was read is kept beside the page as JSON, so that one mix (-mix) or one program
// (-only) can be done again without the others.
//
// Its steps:
//
//  1. It starts a real API server and fills it with two mixes of kinds (fill.go): one
//     of kinds that benchrun's presets have, one of kinds that it never saw.
//  2. benchrun memory predicts from a sample of a thousand objects, and measures with
//     fewer objects than there are.
//  3. Real programs (programs.go) start again and again, each time as a process that
//     reads its own heap, resident set and control group: informers of client-go, a
//     manager of controller-runtime, and client-go's with each of a few changes. Those
//     with changes, and the same without, select parts of the objects in turn, from all
//     to half, as benchrun does: where a collection falls is chance with any one number.
//  4. The page compares (page.go).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/informerbench/informerbench/loadgen/apiserver"
)

type options struct {
	benchrun, page    string
	only              string // program
	objects, measured int
	repeats, sample   int
	starts            int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	var p program
	flag.StringVar(&o.benchrun, "benchrun", "benchrun", "the program that predicts")
	flag.StringVar(&o.page, "page", "memory.md", "the page to write")
	flag.IntVar(&o.objects, "objects", 10_000, "of each mix in the server")
	flag.IntVar(&o.measured, "measured", 10_000, "that benchrun runs with at most")
	flag.IntVar(&o.repeats, "repeats", 6, "rounds of predictions, and numbers of objects that changed programs are started with")
	flag.IntVar(&o.starts, "starts", 4, "of a program with each number of objects")
	flag.IntVar(&o.sample, "sample", 1_000, "objects of a mix that benchrun keeps")
	flag.StringVar(&o.only, "only", "", "the only program to do")
	flag.StringVar(&p.Kind, "program", "", "be this program: client-go or controller-runtime")
	flag.StringVar(&p.Mix, "mix", "", "the only one to do; of the program")
	flag.StringVar(&p.Change, "change", "", "of the program")
	flag.IntVar(&p.Percent, "percent", 100, "of the objects that the program watches")
	flag.Parse()
	var err error
	if p.Kind != "" {
		if err = enterGroup(); err == nil {
			err = p.run(ctx)
		}
	} else {
		err = prove(ctx, o, p.Mix)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func prove(ctx context.Context, o options, only string) error {
	chosen := mixes
	if only != "" {
		m, err := findMix(only)
		if err != nil {
			return err
		}
		chosen = []mix{m}
	}
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%4.0f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	binary, err := apiserver.Build(ctx, "controlplane", os.Stderr)
	if err != nil {
		return fmt.Errorf("%w\n(memory is run in folder loadgen/apiserver)", err)
	}
	server, err := apiserver.Start(ctx, apiserver.Options{Binary: binary})
	if err != nil {
		return err
	}
	defer server.Stop()
	config, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig())
	if err != nil {
		return err
	}
	say("server ready, filling it with %d objects of each mix", o.objects)
	for _, m := range chosen {
		if err := fill(ctx, config, m, o.objects); err != nil {
			return fmt.Errorf("filling: %w", err)
		}
	}
	for _, m := range chosen {
		for _, kind := range programKinds {
			if o.only != "" && o.only != kind.name {
				continue
			}
			say("%s, %s: predicting", m.name, kind.name)
			c, err := compare(ctx, o, server.Kubeconfig(), m, kind.name, kind.encoding)
			if err != nil {
				return err
			}
			if err := keep(o, c); err != nil { // what there is, in case of an interruption
				return err
			}
		}
	}
	say("done")
	return nil
}

// compare predicts, and starts the program as it is and with each change.
func compare(ctx context.Context, o options, kubeconfig string, m mix, name, encoding string) (comparison, error) {
	c := comparison{Mix: m.name, Program: name, Objects: o.objects, Sample: o.sample, Measured: o.measured, Reality: map[string][]reading{}}
	var err error
	if c.Prediction, err = predict(ctx, o, kubeconfig, m, encoding); err != nil {
		return c, err
	}
	changes, sizes := []string{""}, 1
	if name == clientGo {
		changes, sizes = append(changes, changeNames...), o.repeats
	}
	for range o.starts {
		for size := range sizes {
			percent := int(math.Round(100 * math.Exp2(-float64(size)/float64(sizes)))) // as benchrun does
			for _, change := range changes {
				r, err := program{name, m.name, change, percent}.start(ctx, kubeconfig)
				if err != nil {
					return c, fmt.Errorf("%s %s: %w", name, change, err)
				}
				if expected := m.part(o.objects, percent); r.Objects != expected {
					return c, fmt.Errorf("%s %s holds %d objects, expected %d", name, change, r.Objects, expected)
				}
				c.Reality[change] = append(c.Reality[change], r)
			}
		}
	}
	return c, nil
}

// A prediction is what is read of benchrun's answer.
type prediction struct {
	BaseHeap, BaseResident figure
	Prediction             struct{ Live, StartResident figure }
	Changes                []struct {
		Name            string
		Live, StartPeak figure
	}
}

type figure struct{ Value, Low, High float64 }

func predict(ctx context.Context, o options, kubeconfig string, m mix, encoding string) (p prediction, err error) {
	folder, err := os.MkdirTemp("", "memory-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(folder)
	c := exec.CommandContext(ctx, o.benchrun, "memory", "--kubeconfig", kubeconfig, "--namespace", m.namespace(), "--resource", strings.Join(m.resources(), ","),
		"--sample", strconv.Itoa(o.sample/len(m.kinds)), "--measured", strconv.Itoa(o.measured), "--repeats", strconv.Itoa(o.repeats),
		"--encoding", encoding, "--drop", "spec,data", "--out", filepath.Join(folder, "out"), "-o", "json")
	c.Stderr = os.Stderr
	b, err := c.Output()
	if err != nil {
		return p, fmt.Errorf("benchrun memory: %w", err)
	}
	return p, json.Unmarshal(b, &p)
}

// A reading is what a program says of itself, in bytes.
type reading struct {
	Objects, Percent                    int // of all that there are
	BaseHeap, BaseResident, Live, Start uint64
	BaseGroup, Group                    uint64 // of its control group; 0 if it may have none
}

// start runs the program in a process of its own.
func (p program) start(ctx context.Context, kubeconfig string) (r reading, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	c := exec.CommandContext(ctx, self, "-program", p.Kind, "-mix", p.Mix, "-change", p.Change, "-percent", strconv.Itoa(p.Percent))
	c.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	var stderr strings.Builder
	c.Stderr = &stderr
	b, err := c.Output()
	if c.Process != nil {
		leaveGroup(c.Process.Pid)
	}
	if err != nil {
		return r, errors.Join(err, errors.New(stderr.String()))
	}
	return r, json.Unmarshal(b, &r)
}

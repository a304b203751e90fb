package app

import (
	"cmp"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/experiment/calibration"
	"github.com/informerbench/informerbench/bench/experiment/lab"
	"github.com/spf13/cobra"
)

// A sampleCommand line is one child process: one benchmark, printed on stdout
// in the Go benchmark format, or its profiles.
func (s Suite) sampleCommand() *cobra.Command {
	var o bench.Options
	var name, as, variant, arm, profiles string
	var sampleTime time.Duration
	var count int
	var planted bool
	cmd := &cobra.Command{
		Use: "sample", Short: "Run one benchmark in this process", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if planted {
				if err := calibration.AddPlanted(); err != nil {
					return err
				}
			}
			cases, err := s.Cases(o)
			if err != nil {
				return err
			}
			of, cores := bench.CoresOf(name)
			for _, c := range cases {
				if c.Component+"/"+c.Name != of {
					continue
				}
				if cores > 0 {
					runtime.GOMAXPROCS(cores)
					c.Name = strings.TrimPrefix(name, c.Component+"/")
				}
				c.Name = cmp.Or(as, c.Name)
				if profiles != "" {
					return lab.RunProfile(c, variant, profiles, sampleTime)
				}
				return lab.RunSample(c, variant, arm, sampleTime, count)
			}
			return fmt.Errorf("--case: unknown case %q", name)
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "case", "", "component/name")
	f.StringVar(&as, "as", "", "name of the case to print (default its own)")
	f.StringVar(&variant, "variant", "", "variant to run")
	f.StringVar(&arm, "arm", "", "name to print")
	f.StringVar(&profiles, "profiles", "", "directory for profiles instead of a sample")
	f.DurationVar(&sampleTime, "time", 0, "measured time")
	f.IntVar(&count, "count", 1, "how many results")
	f.BoolVar(&planted, "planted", false, "add calibrate's queues to the catalogue")
	f.Uint64Var(&o.Seed, "seed", 0, "seed")
	f.StringVar(&o.Workload, "workload", "", "workload")
	f.StringVar(&o.Trace, "trace", "", "trace")
	return cmd
}

// profileTime is long enough for some tens of CPU profile ticks, which come
// every 10 ms, or for a hundred.
func profileTime(p experiment.Plan) time.Duration {
	if p.Profile == lab.Quick {
		return 300 * time.Millisecond
	}
	return time.Second
}

func sampleArgs(p experiment.Plan, c experiment.PlannedCase, variant string, more ...string) []string {
	return append([]string{
		"sample", "--case", c.Key(), "--variant", variant, "--seed", strconv.FormatUint(p.Seed, 10),
		"--workload", p.Workload, "--trace", p.Trace,
	}, more...)
}

// newLab starts this program again for every sample and profile.
func newLab(p experiment.Plan) (lab.Lab, error) {
	program, err := self()
	if err != nil {
		return lab.Lab{}, err
	}
	return lab.Lab{
		Sample: lab.Children(func(c experiment.PlannedCase, a experiment.Arm) []string {
			return append(program, sampleArgs(p, c, a.Variant, "--arm", a.Name, "--time", cmp.Or(c.SampleTime, p.SampleTime).String())...)
		}, p.Timeout),
		Profile: func(c experiment.PlannedCase, variant, dir string) []string {
			return append(program, sampleArgs(p, c, variant, "--profiles", dir, "--time", profileTime(p).String())...)
		},
	}, nil
}

package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// tuneSettings are the settings that the operator knows, by flags or by a file,
// and what a reconcile does, where no metrics tell it.
type tuneSettings struct {
	file                        string
	flags                       predict.Settings
	service, calls, callLatency randvar.Dist
	failure                     float64
}

// settingFlags are the flags by the names of a settings file.
var settingFlags = map[string]string{
	"workers": "workers", "qps": "qps", "burst": "burst", "baseDelay": "base-delay", "maxDelay": "max-delay",
	"bucketRate": "retry-rate", "bucketBurst": "retry-burst", "resync": "resync", "batch": "batch", "priority": "priority",
	"split": "", "queue": "",
}

func (s *tuneSettings) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.file, "settings", "", "YAML file of the current settings: workers, qps, burst, baseDelay, …, as the flags; flags go before it")
	f.IntVar(&s.flags.Workers, "workers", 0, "current concurrent workers (default controller-runtime's metric, else the controller's default)")
	f.Float64Var(&s.flags.QPS, "qps", 0, "current client-side limit of API calls a second, 0 for none (default 20 of kube-controller-manager, none of controller-runtime, else 5)")
	f.IntVar(&s.flags.Burst, "burst", 0, "current calls that the limit lets through at once (default 1.5 times the QPS)")
	f.DurationVar(&s.flags.BaseDelay, "base-delay", 0, "current delay of a key's first retry (default 5ms)")
	f.DurationVar(&s.flags.MaxDelay, "max-delay", 0, "current longest delay of a key's retry (default 1000s)")
	f.Float64Var(&s.flags.BucketRate, "retry-rate", 0, "current retries a second of all keys, 0 for no bucket (default none of controller-runtime's priority queue, else 10)")
	f.IntVar(&s.flags.BucketBurst, "retry-burst", 0, "current retries at once (default 100)")
	f.DurationVar(&s.flags.Resync, "resync", 0, "current resync period, 0 for none")
	f.IntVar(&s.flags.Batch, "batch", 0, "current deltas that the informer takes at a time (default 1000)")
	f.BoolVar(&s.flags.Priority, "priority", false, "the queue is controller-runtime's priority queue (default as the labels of workqueue_depth tell, else so in controller-runtime)")
	f.Var(distFlag{&s.service}, "service", "of a workload or recording: time of a reconcile's own work: 5ms, 'exp(10ms)', 'lognormal(5ms, 80ms)' (median, p99), …")
	f.Var(distFlag{&s.calls}, "calls", "API calls of a reconcile (default as the metrics or the workload tell)")
	f.Var(distFlag{&s.callLatency}, "call-latency", "time of a call once it is sent (default as the metrics or the workload tell)")
	f.Float64Var(&s.failure, "failure", 0, "of a workload or recording: share of reconciles that fail, 0 to 1")
}

// maxSettings bounds a settings file, so that a wrong path, such as a device's, is no
// long wait.
const maxSettings = 1 << 20

// current merges the file and the flags, which go before it.
func (s *tuneSettings) current(cmd *cobra.Command) (predict.Current, error) {
	c := predict.Current{Told: map[string]string{}}
	if s.file != "" {
		f, err := os.Open(s.file)
		if err != nil {
			return c, fmt.Errorf("--settings: %w", err)
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
		if err != nil {
			return c, fmt.Errorf("--settings: %w", err)
		}
		if len(b) > maxSettings {
			return c, fmt.Errorf("--settings: %s: is larger than %d KiB, expected settings of a few lines", s.file, maxSettings>>10)
		}
		if err := readSettings(s.file, b, &c); err != nil {
			return c, err
		}
	}
	set := map[string]func(){
		"workers": func() { c.Workers = s.flags.Workers }, "qps": func() { c.QPS = s.flags.QPS }, "burst": func() { c.Burst = s.flags.Burst },
		"baseDelay": func() { c.BaseDelay = s.flags.BaseDelay }, "maxDelay": func() { c.MaxDelay = s.flags.MaxDelay },
		"bucketRate": func() { c.BucketRate = s.flags.BucketRate }, "bucketBurst": func() { c.BucketBurst = s.flags.BucketBurst },
		"resync": func() { c.Resync = s.flags.Resync }, "batch": func() { c.Batch = s.flags.Batch }, "priority": func() { c.Priority = s.flags.Priority },
	}
	for name, flag := range settingFlags {
		if flag == "" || !cmd.Flags().Changed(flag) {
			continue
		}
		set[name]()
		c.Told[name] = "given"
		if err := c.CheckRange(name); err != nil {
			problem := strings.TrimPrefix(err.Error(), name)
			if name == "qps" {
				problem += ", 0 for no limit"
			}
			return c, fmt.Errorf("--%s%s", flag, problem)
		}
	}
	if !(s.failure >= 0 && s.failure <= 1) {
		return c, fmt.Errorf("--failure: found %v, expected a share from 0 to 1", s.failure)
	}
	if c.Told["qps"] != "" && c.QPS > 0 && c.Told["burst"] != "" && c.Burst < 1 {
		return c, fmt.Errorf("--burst: found %d, expected at least 1 beside --qps", c.Burst)
	}
	return c, nil
}

// readSettings decodes a settings file and notes which settings it tells.
func readSettings(name string, b []byte, c *predict.Current) error {
	var keys map[string]any
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&c.Settings); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s is empty, expected settings such as workers: 5", name)
		}
		return settingsError(name, b, err)
	}
	if err := yaml.Unmarshal(b, &keys); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if value := keys[key]; cut(key, value) {
			return fmt.Errorf("%s:%d: %s: found %v, expected %s", name, lineOf(b, key), key, value, sorts["int"])
		}
		if err := c.CheckRange(key); err != nil {
			return fmt.Errorf("%s:%d: %w", name, lineOf(b, key), err)
		}
		c.Told[key] = "given"
	}
	return nil
}

// lineOf is the line of a settings file that tells a setting.
func lineOf(text []byte, setting string) int {
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, setting+":") {
			return i + 1
		}
	}
	return 1 // as in {workers: 5}
}

var (
	unknownSetting = regexp.MustCompile(`^line ([0-9]+): field (.*) not found in type`)
	wrongSetting   = regexp.MustCompile("^line ([0-9]+): cannot unmarshal !!([a-z]+)(?: `(.*)`)? into (.*)$")
)

// sorts are the types of Settings in words.
var sorts = map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false", "time.Duration": "a duration as in 5ms", "string": "a name"}

// settingsError names the line and the field, but no type of Go.
func settingsError(name string, text []byte, err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", name, err)
	}
	m := unknownSetting.FindStringSubmatch(wrong.Errors[0])
	if w := wrongSetting.FindStringSubmatch(wrong.Errors[0]); w != nil {
		line, _ := strconv.Atoi(w[1]) // digits
		field := ""
		if key, _, ok := strings.Cut(strings.Split(string(text), "\n")[line-1], ":"); ok {
			field = strings.TrimSpace(key) + ": "
		}
		found := cmp.Or(w[3], map[string]string{"seq": "a list", "map": "a mapping"}[w[2]])
		return fmt.Errorf("%s:%d: %sfound %s, expected %s", name, line, field, found, cmp.Or(sorts[w[4]], "settings such as workers: 5"))
	}
	if m == nil {
		return fmt.Errorf("%s: %s", name, wrong.Errors[0])
	}
	return fmt.Errorf("%s:%s: unknown field %q, expected one of %s", name, m[1], m[2],
		strings.Join(slices.Sorted(maps.Keys(settingFlags)), ", "))
}

// reconcile puts what was given into what a workload says.
func (s *tuneSettings) reconcile(cmd *cobra.Command, r loadgen.Reconcile) loadgen.Reconcile {
	for name, set := range map[string]func(){
		"service": func() { r.Service = s.service }, "calls": func() { r.Calls = s.calls },
		"call-latency": func() { r.CallLatency = s.callLatency }, "failure": func() { r.Failure = s.failure },
	} {
		if cmd.Flags().Changed(name) {
			set()
		}
	}
	return r
}

// wait sleeps, unless the command is interrupted.
func wait(cmd *cobra.Command, d time.Duration, tell func(left time.Duration)) error {
	end := time.Now().Add(d)
	tick := time.NewTicker(max(time.Millisecond, min(d, time.Second)))
	defer tick.Stop()
	for left := d; left > 0; left = time.Until(end) {
		tell(left)
		select {
		case <-tick.C:
		case <-cmd.Context().Done():
			return errors.New("interrupted between two scrapes: there is nothing to tune")
		}
	}
	return nil
}

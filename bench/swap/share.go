package swap

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/informerbench/informerbench/bench/experiment/wording"
)

// A Share says how much of a program's processor time queues and caches take in the
// client-go arm: no swap can gain more.
type Share struct {
	Direct    float64       `json:"direct"`    // in them and in what they call
	Collector float64       `json:"collector"` // the collector's goroutines
	Allocated float64       `json:"allocated"` // of the bytes, by queues and caches
	Bound     float64       `json:"bound"`     // Direct, and that part of Collector
	CPU       time.Duration `json:"cpuNanoseconds"`
}

// ProfileTime is for how long the client-go arm is profiled at most.
const ProfileTime = 30 * time.Second

// String is what a swap can gain at most.
func (s Share) String() string {
	return fmt.Sprintf("queues and caches are %s of the program's CPU time: no swap can gain more (%s in them, %s of the garbage collection for them)",
		wording.Percent(s.Bound), wording.Percent(s.Direct), wording.Percent(s.Bound-s.Direct))
}

// Profile runs the client-go arm once under a CPU profile. What was printed meanwhile
// is kept in logs.
func (p *Program) Profile(ctx context.Context, logs string) (Share, error) {
	const name = "profile"
	p.logs = logs
	s, err := p.open(ctx, Baseline, name, 0)
	if err != nil {
		return Share{}, err
	}
	defer s.abandon()
	if _, err := s.ask(ctx, "/cpu/start"); err != nil {
		return Share{}, fmt.Errorf("the program can't be profiled: %w", err)
	}
	type answer struct {
		text []byte
		err  error
	}
	stopped := make(chan answer, 1)
	stop := time.AfterFunc(ProfileTime, func() {
		text, err := s.ask(ctx, "/cpu/stop")
		stopped <- answer{text, err}
	})
	if err := p.load(ctx, s, &Round{Arm: name}); err != nil {
		stop.Stop()
		return Share{}, err
	}
	if stop.Stop() {
		text, err := s.ask(ctx, "/cpu/stop")
		stopped <- answer{text, err}
	}
	cpu := <-stopped
	if cpu.err != nil {
		return Share{}, cpu.err
	}
	allocs, err := s.ask(ctx, "/allocs")
	if err != nil {
		return Share{}, err
	}
	if err := s.close(ctx); err != nil {
		return Share{}, err
	}
	return shareOf(cpu.text, allocs, p.target.module)
}

func shareOf(cpu, allocs []byte, module string) (Share, error) {
	var s Share
	times, err := profile.Parse(bytes.NewReader(cpu))
	if err != nil {
		return s, fmt.Errorf("the CPU profile: %w", err)
	}
	heap, err := profile.Parse(bytes.NewReader(allocs))
	if err != nil {
		return s, fmt.Errorf("the allocation profile: %w", err)
	}
	ours, collector, total := parts(times, "cpu", module)
	if total == 0 {
		return s, fmt.Errorf("the program used no processor time under the load: expected a load that it reacts to")
	}
	s.CPU = time.Duration(total)
	s.Direct, s.Collector = ours/total, collector/total
	if bytes, _, all := parts(heap, "alloc_space", module); all > 0 {
		s.Allocated = bytes / all
	}
	s.Bound = s.Direct + s.Collector*s.Allocated
	return s, nil
}

// parts sums a profile's values: those of queues and caches, the collector's, all.
func parts(p *profile.Profile, unit, module string) (swappable, collector, total float64) {
	i := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == unit })
	if i < 0 {
		return 0, 0, 0
	}
	for _, s := range p.Sample {
		v := float64(s.Value[i])
		total += v
		switch of(s, module) {
		case inQueueOrCache:
			swappable += v
		case inCollector:
			collector += v
		}
	}
	return swappable, collector, total
}

type whose int

const (
	elsewhere whose = iota
	inQueueOrCache
	inCollector
)

// of says whose work a sample is: the innermost function's that is not one of a
// library that everybody calls. A handler, an index function and a key function of
// the author's are the author's, though the cache calls them.
func of(s *profile.Sample, module string) whose {
	for _, location := range s.Location {
		for _, line := range location.Line {
			if line.Function == nil {
				continue
			}
			name := line.Function.Name
			if name == "runtime.gcBgMarkWorker" || name == "runtime.bgsweep" || name == "runtime.bgscavenge" {
				return inCollector
			}
			pkg := packageOf(name)
			switch {
			case slices.Contains(swappable, pkg):
				return inQueueOrCache
			case pkg == "main" || pkg == module || strings.HasPrefix(pkg, module+"/"):
				return elsewhere
			case !helper(pkg):
				return elsewhere
			}
		}
	}
	return elsewhere
}

// swappable are the packages whose work a swap takes over.
var swappable = []string{
	clientGo + "/util/workqueue", clientGo + "/tools/cache", controllerRuntime + "/pkg/controller/priorityqueue",
}

// helpers do the work of whoever calls them.
var helpers = []string{
	"k8s.io/apimachinery/pkg/api/meta", "k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/util/sets",
	"k8s.io/utils/clock", "k8s.io/utils/buffer", "golang.org/x/time/rate", "github.com/google/btree",
}

func helper(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".") || slices.Contains(helpers, pkg) // the standard library has no dot
}

// packageOf cuts a function's name at the dot behind its package.
func packageOf(name string) string {
	name, _, _ = strings.Cut(name, "[") // type arguments have paths of their own
	slash := strings.LastIndexByte(name, '/') + 1
	if dot := strings.IndexByte(name[slash:], '.'); dot >= 0 {
		return name[:slash+dot]
	}
	return name
}

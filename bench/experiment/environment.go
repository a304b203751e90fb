package experiment

import (
	"fmt"
	"runtime/debug"

	"github.com/informerbench/informerbench/loadgen/machine"
)

// measured are the modules whose versions a reader has to know.
var measured = []string{
	"github.com/informerbench/informerbench",
	"k8s.io/client-go", "k8s.io/apimachinery", "sigs.k8s.io/controller-runtime", "golang.org/x/time",
}

// Here describes this machine.
func Here() Environment { return machine.Here() }

// Versions are those of the modules that are measured, as they were linked
// into this binary.
func Versions() map[string]string {
	versions := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return versions
	}
	for _, m := range append(info.Deps, &info.Main) {
		for _, path := range measured {
			if m.Path == path {
				if m.Replace != nil {
					m = m.Replace
				}
				versions[path] = m.Version
			}
		}
	}
	return versions
}

// RawHeader begins a raw.txt with what benchstat prints above its tables. Only
// what makes two files incomparable belongs here, because benchstat separates by
// it.
func RawHeader(e Environment) string {
	header := fmt.Sprintf("goos: %s\ngoarch: %s\npkg: github.com/informerbench/informerbench/bench\n", e.OS, e.Arch)
	if e.CPU != "" {
		header += "cpu: " + e.CPU + "\n"
	}
	return header
}

package experiment

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// measured are the modules whose versions a reader has to know.
var measured = []string{
	"github.com/informerbench/informerbench",
	"k8s.io/client-go", "k8s.io/apimachinery", "sigs.k8s.io/controller-runtime", "golang.org/x/time",
}

// Here describes this machine.
func Here() Environment {
	return Environment{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU:   procField("/proc/cpuinfo", "model name"),
		Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		Memory: memory(),
		Kernel: firstLine("/proc/sys/kernel/osrelease"),
	}
}

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
func (e Environment) RawHeader() string {
	header := fmt.Sprintf("goos: %s\ngoarch: %s\npkg: github.com/informerbench/informerbench/bench\n", e.OS, e.Arch)
	if e.CPU != "" {
		header += "cpu: " + e.CPU + "\n"
	}
	return header
}

func memory() uint64 {
	kb, err := strconv.ParseUint(strings.TrimSuffix(procField("/proc/meminfo", "MemTotal"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kb * 1024
}

// procField reads "name : value" from a file of /proc; empty elsewhere.
func procField(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// Package machine says what a program runs on, as results name it beside their figures.
package machine

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// An Environment is the machine beside every absolute figure.
type Environment struct {
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Memory     uint64 `json:"memoryBytes"`
	Kernel     string `json:"kernel"`
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

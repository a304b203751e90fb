package loadgen

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

//go:embed presets/*.yaml
var presets embed.FS

// Presets returns the names of the embedded specs, sorted.
func Presets() []string {
	var names []string
	files, _ := fs.Glob(presets, "presets/*.yaml") // fails on a malformed pattern only
	for _, file := range files {
		names = append(names, strings.TrimSuffix(path.Base(file), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Preset returns the embedded spec of that name.
func Preset(name string) (*Spec, error) {
	data, err := presets.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("unknown workload %q, expected %s", name, choice(Presets()))
	}
	return ParseSpec(name+".yaml", data)
}

// Open returns the preset of that name or, failing that, reads the file.
func Open(nameOrPath string) (*Spec, error) {
	if slices.Contains(Presets(), nameOrPath) {
		return Preset(nameOrPath)
	}
	spec, err := ReadSpec(nameOrPath)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("unknown workload %q: no such file, and no preset: expected %s", nameOrPath, choice(Presets()))
	}
	return spec, err
}

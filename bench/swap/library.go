package swap

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ours is the module whose packages take the place of client-go's.
const ours = "github.com/informerbench/informerbench/impl"

// ours returns the files of the probe and of the packages that replace client-go's,
// as packages of the author's module: they are compiled against the versions that
// the program has, and lift none.
func (t *target) ours(library string) (map[string][]byte, error) {
	files := map[string][]byte{}
	folder := filepath.Join(t.root, generatedPrefix+"swap")
	probe, err := probeFiles.ReadDir("probe")
	if err != nil {
		return nil, err
	}
	for _, f := range probe {
		if strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := probeFiles.ReadFile("probe/" + f.Name())
		if err != nil {
			return nil, err
		}
		files[filepath.Join(folder, "probe", f.Name())] = inOurGo(text)
	}
	wanted := []string{"ratelimit", "delay"}
	for _, h := range t.hooks {
		switch h.path {
		case cacheHooks.path:
			wanted = append(wanted, "informer", "indexer")
		case priorityHooks.path:
			wanted = append(wanted, "priority")
		}
	}
	for i := 0; i < len(wanted); i++ { // it grows
		sources, err := filepath.Glob(filepath.Join(library, filepath.FromSlash(wanted[i]), "*.go"))
		if err != nil || len(sources) == 0 {
			return nil, fmt.Errorf("no package %s in %s: expected the source of %s (see --library)", wanted[i], library, ours)
		}
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			text, err := os.ReadFile(source)
			if err != nil {
				return nil, err
			}
			imports, err := ourImports(source, text)
			if err != nil {
				return nil, err
			}
			for _, name := range imports {
				if !slices.Contains(wanted, name) {
					wanted = append(wanted, name)
				}
			}
			text = []byte(strings.ReplaceAll(string(text), `"`+ours+"/", `"`+t.generated()+"/"))
			files[filepath.Join(folder, filepath.FromSlash(wanted[i]), filepath.Base(source))] = inOurGo(text)
		}
	}
	return files, nil
}

// inOurGo lets a file have the language that it is written in, whatever the author's
// go.mod asks for. A file with a condition of its own is plain enough.
func inOurGo(text []byte) []byte {
	if bytes.HasPrefix(text, []byte("//go:build")) {
		return text
	}
	return append([]byte("//go:build go1.25\n\n"), text...)
}

func ourImports(source string, text []byte) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), source, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && strings.HasPrefix(p, ours+"/") {
			list = append(list, path.Clean(strings.TrimPrefix(p, ours+"/")))
		}
	}
	return list, nil
}

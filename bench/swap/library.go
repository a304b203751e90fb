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
func (t *target) ours(library string, outside *outside) (map[string][]byte, error) {
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
	if outside != nil {
		for file, text := range outside.files {
			imports, text, err := t.rewriteImports(file, text, outside.copied)
			if err != nil {
				return nil, err
			}
			files[file] = inOurGo(text)
			wanted = append(wanted, imports...)
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
			imports, text, err := t.rewriteImports(source, text, nil)
			if err != nil {
				return nil, err
			}
			for _, name := range imports {
				if !slices.Contains(wanted, name) {
					wanted = append(wanted, name)
				}
			}
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

// rewriteImports has a file import our library, and outside packages that are copied, from
// where they are put, and returns the folders of the library that it imports.
func (t *target) rewriteImports(source string, text []byte, copied []string) (library []string, edited []byte, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, source, text, parser.ImportsOnly)
	if err != nil {
		return nil, nil, err
	}
	for _, spec := range slices.Backward(file.Imports) { // from the end, so that offsets stay right
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, nil, err
		}
		to := ""
		if name, ok := strings.CutPrefix(p, ours+"/"); ok {
			library = append(library, path.Clean(name))
			to = path.Join(t.generated(), name)
		} else if slices.Contains(copied, p) {
			to = t.outsidePath(p)
		}
		if to != "" {
			text = slices.Replace(text, files.Position(spec.Path.Pos()).Offset, files.Position(spec.Path.End()).Offset, []byte(strconv.Quote(to))...)
		}
	}
	return library, text, nil
}

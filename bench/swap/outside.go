package swap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/informerbench/informerbench/bench/internal/gocommand"
)

// An outside is a package of somebody's that makes containers for client-go's queues and
// caches, with what it imports that the program does not have.
type outside struct {
	path             string // of the package
	indexer, storage bool   // whether it makes them
	copied           []string
	files            map[string][]byte // of those copied, by where they are put
}

// Functions of an outside package.
const (
	outsideIndexer = "NewIndexer" // func(cache.KeyFunc, cache.Indexers) cache.Indexer
	outsideStorage = "NewStorage" // func[T comparable]() workqueue.Queue[T]
)

// outsidePath is what the program imports a copied package as.
func (t *target) outsidePath(pkg string) string { return path.Join(t.generated(), "outside", pkg) }

// importPath is what the program imports the package as.
func (o *outside) importPath(t *target) string {
	if slices.Contains(o.copied, o.path) {
		return t.outsidePath(o.path)
	}
	return o.path
}

// readOutside reads the package in a folder, nil for no folder. What is of a module that
// the program has is taken from there, in the program's version.
func (t *target) readOutside(ctx context.Context, folder string) (*outside, error) {
	if folder == "" {
		return nil, nil
	}
	out, err := gocommand.In(ctx, folder, nil, "list", "-deps", "-json=ImportPath,Dir,GoFiles,SFiles,CgoFiles,Standard,Module", "--", ".")
	if err != nil {
		return nil, fmt.Errorf("--outside %s: %w", folder, err)
	}
	type imported struct {
		ImportPath, Dir           string
		GoFiles, SFiles, CgoFiles []string
		Standard                  bool
		Module                    struct{ Path string }
	}
	o := &outside{files: map[string][]byte{}}
	var last imported // the package itself: what it imports comes before
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p imported
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		last = p
		if _, has := t.versions[p.Module.Path]; p.Standard || has || p.Module.Path == ours {
			continue
		}
		if len(p.SFiles)+len(p.CgoFiles) > 0 {
			return nil, fmt.Errorf("--outside %s: %s has assembly or cgo, expected Go alone, to compile it into the program", folder, p.ImportPath)
		}
		o.copied = append(o.copied, p.ImportPath)
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			o.files[filepath.Join(t.root, generatedPrefix+"swap", "outside", filepath.FromSlash(p.ImportPath), name)] = text
		}
	}
	o.path = last.ImportPath
	for _, name := range last.GoFiles {
		if err := o.look(filepath.Join(last.Dir, name)); err != nil {
			return nil, err
		}
	}
	if !o.indexer && !o.storage {
		return nil, fmt.Errorf("--outside %s: found neither %s nor %s in %s, expected one of them", folder, outsideIndexer, outsideStorage, o.path)
	}
	return o, nil
}

// look notes which of the functions a file declares.
func (o *outside) look(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			o.indexer = o.indexer || f.Name.Name == outsideIndexer
			o.storage = o.storage || f.Name.Name == outsideStorage
		}
	}
	return nil
}

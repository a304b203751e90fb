package swap

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/internal/gocommand"
	"golang.org/x/mod/modfile"
)

// A layout is what is given to go build in place of the author's files, which stay
// as they are.
type layout struct {
	overlay map[string]string // path → the file in its place
	flags   []string
	env     []string
	how     []string // in words, for the report
}

// lay writes into dir all that go build needs.
func (t *target) lay(library string, outside *outside, dir string) (layout, []Unnamed, error) {
	l := layout{overlay: map[string]string{}, how: slices.Clone(t.kept)}
	replaced := map[string]string{} // module → our copy
	for _, name := range slices.Sorted(maps.Keys(t.modules)) {
		u := t.modules[name]
		edited := map[string][]byte{}
		for _, h := range t.hooks {
			if h.module == name {
				files, err := h.edit(u.Dir, u.Version, t.generated()+"/probe")
				if err != nil {
					return l, nil, err
				}
				maps.Copy(edited, files)
			}
		}
		if !u.Cached {
			if err := l.put(dir, edited); err != nil {
				return l, nil, err
			}
			l.how = append(l.how, fmt.Sprintf("%s %s: files in %s overlaid", name, u.Version, u.Dir))
			continue
		}
		folder, err := copyModule(u, edited)
		if err != nil {
			return l, nil, err
		}
		replaced[name] = folder
	}
	registrations, left, err := t.generate(outside)
	if err != nil {
		return l, nil, err
	}
	packages, err := t.ours(library, outside)
	if err != nil {
		return l, nil, err
	}
	maps.Copy(registrations, packages)
	if err := l.put(dir, registrations); err != nil {
		return l, nil, err
	}
	if len(replaced) > 0 {
		if err := l.replace(t, dir, replaced); err != nil {
			return l, nil, err
		}
	}
	text, err := json.Marshal(struct{ Replace map[string]string }{l.overlay})
	if err != nil {
		return l, nil, err
	}
	list := filepath.Join(dir, "overlay.json")
	l.flags = append(l.flags, "-overlay="+list)
	return l, left, os.WriteFile(list, text, 0o666)
}

// put has files stand where paths are.
func (l *layout) put(dir string, files map[string][]byte) error {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, fmt.Sprintf("%03d-%s", len(l.overlay), filepath.Base(path)))
		if err := os.WriteFile(file, files[path], 0o666); err != nil {
			return err
		}
		l.overlay[path] = file
	}
	return nil
}

// replace has the copies stand for their modules: in a go.mod for -modfile, or in a
// workspace in a file for GOWORK.
func (l *layout) replace(t *target, dir string, copies map[string]string) error {
	if t.work != "" {
		return l.workspace(t, dir, copies)
	}
	path := filepath.Join(t.root, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(path, text, nil)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(copies)) {
		for _, r := range slices.Clone(mod.Replace) {
			if r.Old.Path == name {
				if err := mod.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return err
				}
			}
		}
		if err := mod.AddReplace(name, "", copies[name], ""); err != nil {
			return err
		}
	}
	if text, err = mod.Format(); err != nil {
		return err
	}
	other := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(other, text, 0o666); err != nil {
		return err
	}
	l.flags = append(l.flags, "-modfile="+other)
	l.how = append(l.how, "a copy of go.mod with replacements, given as -modfile")
	return copyFile(filepath.Join(t.root, "go.sum"), filepath.Join(dir, "go.sum"))
}

func (l *layout) workspace(t *target, dir string, copies map[string]string) error {
	text, err := os.ReadFile(t.work)
	if err != nil {
		return err
	}
	work, err := modfile.ParseWork(t.work, text, nil)
	if err != nil {
		return err
	}
	from := filepath.Dir(t.work)
	for _, u := range slices.Clone(work.Use) {
		path, module := u.Path, u.ModulePath // dropping it clears them
		if filepath.IsAbs(path) {
			continue
		}
		if err := work.DropUse(path); err != nil {
			return err
		}
		if err := work.AddUse(filepath.Join(from, filepath.FromSlash(path)), module); err != nil {
			return err
		}
	}
	for _, r := range slices.Clone(work.Replace) {
		if r.New.Version == "" && !filepath.IsAbs(r.New.Path) {
			if err := work.AddReplace(r.Old.Path, r.Old.Version, filepath.Join(from, filepath.FromSlash(r.New.Path)), ""); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(copies)) {
		if err := work.AddReplace(name, "", copies[name], ""); err != nil {
			return err
		}
	}
	work.Cleanup()
	other := filepath.Join(dir, "go.work")
	if err := os.WriteFile(other, modfile.Format(work.Syntax), 0o666); err != nil {
		return err
	}
	l.env = append(l.env, "GOWORK="+other)
	l.how = append(l.how, "a copy of go.work with replacements, given as GOWORK")
	return copyFile(t.work+".sum", other+".sum")
}

// copyFile copies a file that need not be there.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o666)
}

// copyModule keeps an edited copy of a module in the user's cache, where a second
// run, and go build's own cache, find it again.
func copyModule(u upstream, edited map[string][]byte) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(edited)) {
		fmt.Fprintf(sum, "%s\n%s\n", path, edited[path])
	}
	folder := filepath.Join(cache, "informerbench", "swap", fmt.Sprintf("%s-%s-%x", filepath.Base(u.Path), u.Version, sum.Sum(nil)[:8]))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(folder), "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	err = filepath.WalkDir(u.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "_test.go") {
			return err
		}
		inside, err := filepath.Rel(u.Dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(fresh, inside), 0o777)
		}
		return copyFile(path, filepath.Join(fresh, inside))
	})
	if err != nil {
		return "", err
	}
	for path, text := range edited {
		inside, err := filepath.Rel(u.Dir, path)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(fresh, inside), text, 0o666); err != nil {
			return "", err
		}
	}
	if err := os.Rename(fresh, folder); err != nil {
		if _, there := os.Stat(folder); there != nil { // another run was no faster
			return "", err
		}
	}
	return folder, nil
}

// build compiles the program with all arms and returns its path.
func (t *target) build(ctx context.Context, l layout, dir string) (string, error) {
	program := filepath.Join(dir, "program")
	args := append([]string{"build"}, l.flags...)
	if _, err := gocommand.In(ctx, t.folder, l.env, append(args, "-o", program, t.pkg)...); err != nil {
		return "", fmt.Errorf("%s can't be built with all arms: %w", t.pkg, err)
	}
	return program, nil
}

// lifted lists the modules that the program has in another version with all arms
// than without.
func (t *target) lifted(ctx context.Context, l layout) ([]string, error) {
	out, err := gocommand.In(ctx, t.folder, l.env, append(append([]string{"list"}, l.flags...), "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", "--", t.pkg)...)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, line := range slices.Compact(slices.Sorted(strings.FieldsFuncSeq(string(out), func(r rune) bool { return r == '\n' }))) {
		name, version, _ := strings.Cut(line, " ")
		if _, hooked := t.modules[name]; hooked {
			continue // a copy of the same version
		}
		if was, ok := t.versions[name]; !ok || was != version {
			list = append(list, fmt.Sprintf("%s %s → %s", name, was, version))
		}
	}
	return list, nil
}

// Package ablation takes the variants apart: what does each technique bring?
//
//	techniques  one file a component: what is edited, and the cases where it should show
//	apply       the edits of one technique, on copies of the files
//	build       benchrun as it is, and once for each technique, through go build -overlay
//	cases       those of the techniques, with an arm for each technique that is off
//
// So production code holds no switches, and a technique whose code has changed is
// one clear error.
package ablation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/experiment"
	"github.com/informerbench/informerbench/bench/internal/gocommand"
	"github.com/informerbench/informerbench/impl"
)

// A Technique is one idea that a variant owes speed or memory to, and how to take it out.
type Technique struct {
	Name      string // [a-z0-9-], unique in the variant
	Component string // "queue", …: the catalogue's list
	Variant   string
	Why       string   // one line: what it saves, and when
	Cases     []string // names in bench.Cases, realistic ones first; behind a space the unit that tells, if it is not the case's
	Edits     []Edit
}

// An Edit replaces a piece of source text.
type Edit struct {
	File     string // from the repository's root: "impl/queue/core.go"
	Old, New string // Old has to be there exactly once
}

// String is component/variant: name.
func (t Technique) String() string { return t.Component + "/" + t.Variant + ": " + t.Name }

// Arm is the technique's name in results.
func (t Technique) Arm() string { return experiment.Without + t.Name }

// Techniques lists all, component by component.
func Techniques() []Technique {
	return slices.Concat(queueTechniques, fifoTechniques, indexerTechniques, informerTechniques)
}

// Apply edits copies of the files below root and returns them by path.
func (t Technique) Apply(root string) (map[string]string, error) {
	edited := map[string]string{}
	for _, e := range t.Edits {
		path := filepath.Join(root, filepath.FromSlash(e.File))
		text, ok := edited[path]
		if !ok {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t, err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n != 1 || e.Old == "" {
			return nil, fmt.Errorf("%s: %s: found %q %d times, expected it once", t, e.File, e.Old, n)
		}
		edited[path] = strings.Replace(text, e.Old, e.New, 1)
	}
	return edited, nil
}

// Build compiles a package of the module at root with the technique off and
// returns the program's path in dir, which it makes. What is no program is
// compiled too, for its errors.
func (t Technique) Build(ctx context.Context, root, pkg, dir string) (string, error) {
	edited, err := t.Apply(root)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range edited {
		replacement := filepath.Join(dir, fmt.Sprintf("%d-%s", len(overlay.Replace), filepath.Base(path)))
		if err := os.WriteFile(replacement, []byte(text), 0o666); err != nil {
			return "", err
		}
		overlay.Replace[path] = replacement
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, b, 0o666); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "program")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if _, err := gocommand.Run(ctx, root, "build", "-overlay", list, "-o", program, pkg); err != nil {
		return "", fmt.Errorf("%s can't be built: %w", t, err)
	}
	return program, nil
}

// Root is the folder of this module's source around dir, which edits start from.
func Root(ctx context.Context, dir string) (string, error) {
	const module = "github.com/informerbench/informerbench"
	out, err := gocommand.Run(ctx, dir, "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	if path, root, _ := strings.Cut(strings.TrimSpace(string(out)), " "); err == nil && path == module {
		return root, nil
	}
	return "", errors.Join(fmt.Errorf("%s is not in a clone of %s: expected its source, which the edits are made on", dir, module), err)
}

// AsItIs names the arm without an edit.
const AsItIs = "as-it-is"

// Cases are those that techniques name, each once for a variant: the arms are the
// variant as it is and without each technique that names the case. of says which
// variant a case is of, and its name in all.
func Cases(all []bench.Case, techniques []Technique) (cases []bench.Case, of map[string]Of, err error) {
	of = map[string]Of{}
	for _, t := range techniques {
		for _, named := range t.Cases {
			name, unit, _ := strings.Cut(named, " ")
			i := slices.IndexFunc(all, func(c bench.Case) bool { return c.Component == t.Component && c.Name == name })
			if i < 0 || !slices.Contains(all[i].Variants, t.Variant) {
				return nil, nil, fmt.Errorf("%s: no case %s/%s of this variant", t, t.Component, name)
			}
			c := all[i]
			c.Name += "/of=" + t.Variant
			c.Unit = cmp.Or(unit, c.Unit)
			at := slices.IndexFunc(cases, func(x bench.Case) bool { return x.Component == c.Component && x.Name == c.Name })
			if at < 0 {
				at = len(cases)
				c.Quick, c.Baseline, c.Variants, c.About = true, AsItIs, []string{AsItIs}, []impl.Variant[any]{{Name: AsItIs, Summary: t.Variant + " as it is"}}
				cases = append(cases, c)
				of[c.Component+"/"+c.Name] = Of{t.Variant, name}
			}
			cases[at].Variants = append(cases[at].Variants, t.Arm())
			cases[at].About = append(cases[at].About, impl.Variant[any]{Name: t.Arm(), Summary: t.Why})
		}
	}
	return cases, of, nil
}

// Of is what a case of an ablation runs.
type Of struct {
	Variant string
	Case    string // its name in bench.Cases
}

package loadgen

import (
	"encoding"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/loadgen/randvar"
	"go.yaml.in/yaml/v3"
)

// maxSpec bounds a workload file, so that a wrong path, such as a recording's, is
// no long wait.
const maxSpec = 1 << 20

// ReadSpec reads a spec from a YAML file.
func ReadSpec(path string) (*Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSpec+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSpec {
		return nil, fmt.Errorf("%s: is larger than %d KiB, expected a workload of a few lines", path, maxSpec>>10)
	}
	return ParseSpec(path, data)
}

// ParseSpec decodes a spec strictly: an unknown, misspelt, mistyped or
// out-of-range field is an error of one line, "name:line: field: what was
// found, what was expected".
func ParseSpec(name string, data []byte) (*Spec, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil || len(document.Content) == 0 {
		return nil, syntaxError(name, data, err)
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, fmt.Errorf("%s:%d: a second document, expected one workload a file", name, second.Line)
	} else if err != io.EOF {
		return nil, syntaxError(name, data, err)
	}
	spec := &Spec{}
	lines := map[string]int{}
	err := decodeNode(reflect.ValueOf(spec).Elem(), document.Content[0], "", lines)
	given := *spec
	given.Resources, given.Readers = slices.Clone(spec.Resources), slices.Clone(spec.Readers)
	if err == nil {
		err = spec.complete()
	}
	if err == nil {
		err = misread(reflect.ValueOf(given), reflect.ValueOf(*spec), "", lines)
	}
	if err == nil {
		return spec, nil
	}
	at, ok := err.(*fieldError)
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	line := at.line
	if line == 0 { // found by validate, which knows paths only
		line = lines[enclosing(at.path, lines)]
	}
	if at.path == "" {
		return nil, fmt.Errorf("%s:%d: %s", name, line, at.problem)
	}
	return nil, fmt.Errorf("%s:%d: %s: %s", name, line, at.path, at.problem)
}

// misread finds a number that is given as zero and was taken for one that is not
// given: no workers, say, became five.
func misread(given, complete reflect.Value, path string, lines map[string]int) error {
	switch {
	case given.Kind() == reflect.Slice:
		for i := range given.Len() {
			if err := misread(given.Index(i), complete.Index(i), fmt.Sprintf("%s[%d]", path, i), lines); err != nil {
				return err
			}
		}
	case given.Type() == reflect.TypeFor[randvar.Dist](): // says what it is
	case given.Kind() == reflect.Struct:
		for i, name := range fieldNames(given.Type()) {
			if err := misread(given.Field(i), complete.Field(i), strings.TrimPrefix(path+"."+name, "."), lines); err != nil {
				return err
			}
		}
	case (given.CanInt() || given.CanFloat()) && lines[path] != 0 && given.IsZero() && !complete.IsZero():
		return fault(path, "found %v, which would not be taken as such but as %v: leave the field out for that", given, complete)
	}
	return nil
}

// A fieldError names the field of a spec that is wrong, and its line where known.
type fieldError struct {
	path    string
	line    int
	problem string
}

func (e *fieldError) Error() string { return e.path + ": " + e.problem }

var (
	yamlLine  = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	yamlAlias = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
	tabIndent = regexp.MustCompile(`^\s*\t`)
)

// syntaxError is the library's error, with the right line: it counts from 0 where the
// parser finds fault, names the line before a tab and none of an unknown anchor.
func syntaxError(name string, data []byte, err error) error {
	if err == nil || err.Error() == "EOF" {
		return fmt.Errorf("%s:1: the file is empty, expected a workload", name)
	}
	message, line := err.Error(), 1
	if found := yamlLine.FindStringSubmatch(message); found != nil {
		message = message[len(found[0]):]
		if n, err := strconv.Atoi(found[1]); err == nil {
			line = n
			if strings.HasPrefix(message, "did not find expected") {
				line++
			}
		}
	}
	if strings.Contains(message, "tab character") {
		line = lineWith(data, line, tabIndent)
	} else if alias := yamlAlias.FindStringSubmatch(message); alias != nil {
		line = lineWith(data, line, regexp.MustCompile(`\*`+regexp.QuoteMeta(alias[1])+`\b`))
	}
	return fmt.Errorf("%s:%d: invalid YAML: %s", name, line, strings.ReplaceAll(message, "\n", " "))
}

// lineWith is the first line from one on that has the pattern, or else that one.
func lineWith(data []byte, from int, pattern *regexp.Regexp) int {
	for i, text := range strings.Split(string(data), "\n") {
		if i+1 >= from && pattern.MatchString(text) {
			return i + 1
		}
	}
	return from
}

// enclosing returns the longest prefix of path that the file contains.
func enclosing(path string, lines map[string]int) string {
	for path != "" && lines[path] == 0 {
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return path
}

// decodeNode stores node in value, a struct or one of the scalar types that
// specs use, and notes the line of each field.
func decodeNode(value reflect.Value, node *yaml.Node, path string, lines map[string]int) error {
	lines[path] = node.Line
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	fail := func(expected string) error {
		return &fieldError{path, lines[path], "found " + describe(node) + ", expected " + expected}
	}
	if text, ok := value.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if node.Kind != yaml.ScalarNode {
			return fail("a value such as 5ms or a distribution such as exp(5ms)")
		}
		if err := text.UnmarshalText([]byte(node.Value)); err != nil {
			return &fieldError{path, lines[path], err.Error()}
		}
		return nil
	}
	if value.Kind() == reflect.Slice {
		return decodeList(value, node, path, lines)
	}
	if value.Kind() == reflect.Struct {
		if node.Kind != yaml.MappingNode {
			return fail("fields: " + strings.Join(fieldNames(value.Type()), ", "))
		}
		return decodeFields(value, node, path, lines)
	}
	if node.Kind != yaml.ScalarNode {
		return fail(typeName(value))
	}
	switch tag := node.ShortTag(); {
	case value.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(node.Value)
		if err != nil {
			return fail(typeName(value))
		}
		value.SetInt(int64(d))
	case value.Kind() == reflect.String && tag == "!!str":
		value.SetString(strings.TrimSpace(node.Value))
	case value.Kind() == reflect.Bool && tag == "!!bool", value.CanInt() && tag == "!!int", value.CanUint() && tag == "!!int":
		if node.Decode(value.Addr().Interface()) != nil {
			return fail(typeName(value))
		}
	case value.CanFloat() && (tag == "!!float" || tag == "!!int"):
		var f float64
		if node.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fail(typeName(value))
		}
		value.SetFloat(f)
	default:
		return fail(typeName(value))
	}
	return nil
}

// decodeList stores a list of structs. Those of resources begin with what is
// true by default.
func decodeList(value reflect.Value, node *yaml.Node, path string, lines map[string]int) error {
	if node.Kind != yaml.SequenceNode {
		return &fieldError{path, lines[path], "found " + describe(node) + ", expected a list, one item a line after a dash"}
	}
	if len(node.Content) > maxSources {
		return &fieldError{path, lines[path], fmt.Sprintf("found %d items, expected at most %d", len(node.Content), maxSources)}
	}
	for i, item := range node.Content {
		element := reflect.New(value.Type().Elem()).Elem()
		if r, ok := element.Addr().Interface().(*Resource); ok {
			r.ManagedFields = true
		}
		if err := decodeNode(element, item, fmt.Sprintf("%s[%d]", path, i), lines); err != nil {
			return err
		}
		value.Set(reflect.Append(value, element))
	}
	return nil
}

func decodeFields(value reflect.Value, node *yaml.Node, path string, lines map[string]int) error {
	names := fieldNames(value.Type())
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		name := key.Value
		field := strings.TrimPrefix(path+"."+name, ".")
		index := slices.Index(names, name)
		if path == "" && (name == "objects" || name == "events") {
			return &fieldError{name, key.Line, "the form for one population is gone, expected it as an item of resources: - {kind: pod, count: 100, events: {...}}, with arrivals: {rate: ...} in its events"}
		}
		if key.Kind != yaml.ScalarNode || index < 0 {
			return &fieldError{path, key.Line, "unknown field " + describe(key) + ", expected " + choice(names)}
		}
		if lines[field] != 0 {
			return &fieldError{field, key.Line, fmt.Sprintf("given twice, first on line %d", lines[field])}
		}
		if err := decodeNode(value.Field(index), node.Content[i+1], field, lines); err != nil {
			return err
		}
		lines[field] = key.Line
	}
	return nil
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		names = append(names, name)
	}
	return names
}

func typeName(value reflect.Value) string {
	switch {
	case value.Type() == reflect.TypeFor[time.Duration]():
		return "a duration such as 90s or 5m"
	case value.Kind() == reflect.String:
		return "text"
	case value.Kind() == reflect.Bool:
		return "true or false"
	case value.CanUint():
		return "a whole number from 0 to 18446744073709551615"
	case value.CanInt():
		return "a whole number"
	}
	return "a number"
}

func describe(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "fields"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.ShortTag() == "!!null":
		return "nothing"
	case node.ShortTag() == "!!str":
		if len(node.Value) > 40 {
			return strconv.Quote(node.Value[:40]) + "…"
		}
		return strconv.Quote(node.Value)
	}
	return strings.ReplaceAll(node.Value, "\n", " ")
}

// choice joins names as "a, b or c".
func choice(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

package app

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// parseWhatIf reads changes such as workers=8,qps=40, by the names of a settings file.
func parseWhatIf(text string) (advice.Alternative, error) {
	names := slices.Sorted(maps.Keys(settingFlags))
	var lines []byte
	var settings predict.Settings
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || value == "":
			return advice.Alternative{}, fmt.Errorf("found %q, expected a setting and its value as in workers=8", part)
		case !slices.Contains(names, name):
			return advice.Alternative{}, fmt.Errorf("unknown setting %q, expected one of %s", name, strings.Join(names, ", "))
		case seen[name]:
			return advice.Alternative{}, fmt.Errorf("found %s twice in %q, expected it once; repeat --what-if for another change", name, text)
		}
		seen[name] = true
		line := fmt.Appendf(nil, "%s: %s\n", name, value)
		var values map[string]any
		if yaml.Unmarshal(line, &settings) != nil || yaml.Unmarshal(line, &values) != nil || values[name] == nil || len(values) > 1 || cut(name, values[name]) {
			return advice.Alternative{}, fmt.Errorf("%s: found %s, expected %s", name, value, sortOf(name))
		}
		if err := settings.CheckRange(name); err != nil {
			return advice.Alternative{}, err
		}
		lines = append(lines, line...)
	}
	return advice.Alternative{Text: text, Change: func(s *predict.Settings) {
		_ = yaml.Unmarshal(lines, s) // as above
	}}, nil
}

// sortOf says in words what a setting's value is.
func sortOf(name string) string {
	for f := range reflect.TypeFor[predict.Settings]().Fields() {
		if f.Tag.Get("yaml") == name {
			return sorts[f.Type.String()]
		}
	}
	return "another value"
}

// cut tells whether a setting that is a whole number would lose what value is more: the
// decoder rounds it.
func cut(name string, value any) bool {
	x, fractional := value.(float64)
	return fractional && sortOf(name) == sorts["int"] && x != float64(int64(x))
}

// completeSettings offers the names behind the last comma.
func completeSettings(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	before := word[:strings.LastIndex(word, ",")+1]
	var list []string
	for _, name := range slices.Sorted(maps.Keys(settingFlags)) {
		if strings.HasPrefix(name, word[len(before):]) {
			list = append(list, before+name+"=")
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

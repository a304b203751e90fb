package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A validator checks a value against the keywords that the schemas of this
// package use and reports each keyword it does not know, so that none is
// silently unchecked. Beyond the standard it wants every property of an object
// to be described.
type validator struct {
	root     map[string]any
	problems []string
}

func validate(schema, document []byte) ([]string, error) {
	var v validator
	if err := json.Unmarshal(schema, &v.root); err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return nil, err
	}
	v.check("$", v.root, value)
	return v.problems, nil
}

func (v *validator) fail(path, format string, args ...any) {
	v.problems = append(v.problems, path+": "+fmt.Sprintf(format, args...))
}

func (v *validator) check(path string, schema map[string]any, value any) {
	number, isNumber := value.(float64)
	text, isText := value.(string)
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		want := schema[keyword]
		switch keyword {
		case "$schema", "$id", "$defs", "title", "description":
		case "$ref":
			name := strings.TrimPrefix(want.(string), "#/$defs/")
			target, ok := v.root["$defs"].(map[string]any)[name].(map[string]any)
			if !ok {
				v.fail(path, "schema: %s leads nowhere", want)
				continue
			}
			v.check(path, target, value)
		case "type":
			kinds, ok := want.([]any)
			if !ok {
				kinds = []any{want}
			}
			if !slices.ContainsFunc(kinds, func(kind any) bool { return is(kind.(string), value) }) {
				v.fail(path, "found %T, expected %v", value, want)
			}
		case "const":
			if !reflect.DeepEqual(want, value) {
				v.fail(path, "found %v, expected %v", value, want)
			}
		case "enum":
			if !slices.Contains(want.([]any), value) {
				v.fail(path, "found %v, expected one of %v", value, want)
			}
		case "minimum":
			if isNumber && number < want.(float64) {
				v.fail(path, "found %v, expected at least %v", number, want)
			}
		case "maximum":
			if isNumber && number > want.(float64) {
				v.fail(path, "found %v, expected at most %v", number, want)
			}
		case "exclusiveMinimum":
			if isNumber && number <= want.(float64) {
				v.fail(path, "found %v, expected more than %v", number, want)
			}
		case "exclusiveMaximum":
			if isNumber && number >= want.(float64) {
				v.fail(path, "found %v, expected less than %v", number, want)
			}
		case "minLength":
			if isText && float64(utf8.RuneCountInString(text)) < want.(float64) {
				v.fail(path, "found %q, expected a longer text", text)
			}
		case "format":
			if _, err := time.Parse(time.RFC3339Nano, text); want != "date-time" || isText && err != nil {
				v.fail(path, "found %q, expected %v", text, want)
			}
		case "items":
			items, _ := value.([]any)
			for i, item := range items {
				v.check(fmt.Sprintf("%s[%d]", path, i), want.(map[string]any), item)
			}
		case "required":
			if object, ok := value.(map[string]any); ok {
				for _, name := range want.([]any) {
					if _, ok := object[name.(string)]; !ok {
						v.fail(path, "%s is missing", name)
					}
				}
			}
		case "properties", "additionalProperties":
			v.properties(path, schema, value, keyword)
		default:
			v.fail(path, "schema: the test does not know the keyword %s", keyword)
		}
	}
}

func (v *validator) properties(path string, schema map[string]any, value any, keyword string) {
	object, _ := value.(map[string]any)
	described, _ := schema["properties"].(map[string]any)
	others, _ := schema["additionalProperties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property, ok := described[name].(map[string]any)
		switch {
		case ok && keyword == "properties":
			v.check(path+"."+name, property, object[name])
		case !ok && others != nil && keyword == "additionalProperties":
			v.check(path+"."+name, others, object[name])
		case !ok && others == nil:
			v.fail(path, "%s is not described", name)
		}
	}
}

func is(kind string, value any) bool {
	switch x := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && x == math.Trunc(x)
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}

package trace

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What all that handles objects relies on, which is less than an API server asks
// for: keys are made of names with slashes between them, and resources are named
// after kinds.
var (
	identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)
	dotted     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

func checkKind(kind schema.GroupVersionKind, resource string) error {
	switch {
	case !identifier.MatchString(kind.Kind):
		return fmt.Errorf("kind: found %q, expected letters, digits and -, such as Pod", kind.Kind)
	case !dotted.MatchString(kind.Version):
		return fmt.Errorf("apiVersion: found the version %q, expected letters and digits, such as v1", kind.Version)
	case kind.Group != "" && !dotted.MatchString(kind.Group):
		return fmt.Errorf("apiVersion: found the group %q, expected a domain's name, such as apps or example.com", kind.Group)
	case resource != "" && !dotted.MatchString(strings.TrimSuffix(resource, ".")):
		return fmt.Errorf("resource: found %q, expected a plural, such as pods or deployments.v1.apps", resource)
	}
	return nil
}

// checkNames refuses names that the paths of an API server can't hold.
func (r Record) checkNames() error {
	if r.Name == "" {
		return fmt.Errorf("%s without metadata.name", r.Kind)
	}
	for _, f := range [...]struct{ field, name string }{{"name", r.Name}, {"namespace", r.Namespace}} {
		field, name := f.field, f.name
		problems := content.IsPathSegmentName(name)
		if strings.ContainsFunc(name, unicode.IsControl) {
			problems = append(problems, "may not contain control characters")
		}
		if name != "" && len(problems) > 0 {
			return fmt.Errorf("metadata.%s: found %q, expected a name that can be part of a path: it %s", field, name, problems[0])
		}
	}
	if number, negative := strings.CutPrefix(r.ResourceVersion, "-"); negative && strings.Trim(number, "0123456789") == "" {
		return fmt.Errorf("metadata.resourceVersion: found %q, expected a version that is not negative", r.ResourceVersion)
	}
	return nil
}

package impltest

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestContractIsCovered holds clauses and contract together: every sentence has a
// clause, and every clause a sentence, a name of its own and a reason.
func TestContractIsCovered(t *testing.T) {
	covered := map[string]bool{}
	for component, sentences := range contract {
		covered[component] = false
		for n := range sentences {
			covered[fmt.Sprint(component, " ", n+1)] = false
		}
	}
	names := map[string]bool{}
	for _, c := range Clauses() {
		if _, known := covered[c.Contract]; !known {
			t.Errorf("%s/%s: Contract: found %q, expected a sentence of contract.go", c.Suite, c.Name, c.Contract)
		}
		covered[c.Contract] = true
		assert.False(t, names[c.Suite+"/"+c.Name], "%s has two clauses called %s", c.Suite, c.Name)
		names[c.Suite+"/"+c.Name] = true
		assert.Regexp(t, regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`), c.Name)
		assert.NotEmpty(t, c.Reason, "%s/%s: why", c.Suite, c.Name)
	}
	for sentence, has := range covered {
		if n := regexp.MustCompile(`\d+$`); !has && n.MatchString(sentence) {
			t.Errorf("no clause tests %q", sentence)
		}
	}
}

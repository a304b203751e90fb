package impl_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// firstScreen is how many lines of a package's page a reader sees at once.
const firstScreen = 24

// Each package's page says in its first screen what to change in a client-go controller and
// in a controller-runtime manager, what is different, and how to go back.
func TestPages(t *testing.T) {
	for _, pkg := range packages {
		lines := strings.Split(pageOf(files(t, pkg)), "\n")
		assert.LessOrEqual(t, len(lines), 41, "lines of %s's page", pkg)
		screen := strings.Join(lines[:min(firstScreen, len(lines))], " ")
		for _, one := range [][]string{
			{"client-go"}, {"controller-runtime"},
			{"What is different", "What differs", "what is different"},
			{"go back", "undo"},
		} {
			assert.True(t, containsAny(screen, one), "%s: the page's first %d lines: found none of %q", pkg, firstScreen, one)
		}
	}
}

func pageOf(files []*ast.File) string {
	for _, f := range files {
		if f.Doc != nil {
			return f.Doc.Text()
		}
	}
	return ""
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

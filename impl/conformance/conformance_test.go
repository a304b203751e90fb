package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCatalogue(t *testing.T) {
	for _, test := range Tests() {
		t.Run(test.Name, test.F)
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, test := range Tests() {
		assert.False(t, seen[test.Name], "two tests are called %s", test.Name)
		seen[test.Name] = true
	}
	assert.True(t, seen["queue/client-go"], "the catalogue's queues are tested: %v", seen)
}

package machine

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHere(t *testing.T) {
	e := Here()
	assert.Equal(t, runtime.GOARCH, e.Arch)
	assert.Positive(t, e.Cores)
	if e.OS == "linux" {
		assert.NotEmpty(t, e.Kernel)
		assert.Greater(t, e.Memory, uint64(16<<20))
	}
}

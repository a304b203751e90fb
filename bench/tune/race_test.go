//go:build race

package tune

const racing = true

//go:build !race

package advice

const racing = false

//go:build !race

package search

const racing = false

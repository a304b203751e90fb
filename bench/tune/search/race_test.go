//go:build race

package search

const racing = true

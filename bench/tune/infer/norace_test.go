//go:build !race

package infer

const racing = false

//go:build race

package infer

const racing = true

//go:build !unix

package swap

import "os/exec"

func inOwnGroup(*exec.Cmd) {}
func terminate(int, bool)  {}
func alive(int) bool       { return false }
func killGroup(int)        {}

const platform = "swap ends programs by process group and signal, which this system does not have: expected Linux, macOS or another Unix"

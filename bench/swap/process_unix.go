//go:build unix

package swap

import (
	"os/exec"
	"syscall"
)

// inOwnGroup puts a child into a process group of its own: a Ctrl-C on the terminal
// reaches benchrun alone, which then ends the group.
func inOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks a child, or its whole group, to stop. Either may have ended.
func terminate(pid int, group bool) {
	if group {
		pid = -pid
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
}

// alive reports whether somebody is in a child's group.
func alive(pid int) bool { return syscall.Kill(-pid, 0) == nil }

// killGroup kills a child's group, in which nobody may be left.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

const platform = "" // why this system is not supported

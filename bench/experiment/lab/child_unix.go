//go:build unix

package lab

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the child into a process group of its own: a Ctrl-C on the
// terminal reaches the parent alone, and killing the group leaves no orphan.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

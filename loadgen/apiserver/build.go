package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrUnavailable is in the error of a Build whose modules can't be had, as on a
// machine without network.
var ErrUnavailable = errors.New("the API server's modules can't be had")

// version is what the server calls itself; go.mod of controlplane has it too.
const version = "v1.37.2"

// Build compiles the program in folder source, which is folder controlplane of
// this package, and returns its path in the user's cache folder. The first time
// it downloads 85 MB of modules and compiles for five minutes of CPU time; it says
// so on log.
func Build(ctx context.Context, source string, log io.Writer) (binary string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	binary = filepath.Join(cache, "informerbench", "apiserver-"+version)
	if _, err := os.Stat(binary); err != nil {
		fmt.Fprintln(log, "building kube-apiserver", version, "and etcd, which takes minutes this first time")
	}
	if err := command(ctx, source, "go", "list", "-deps", "-f", "{{if .Error}}{{.Error}}{{end}}", "."); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	flags := fmt.Sprintf("-s -w -X k8s.io/component-base/version.gitVersion=%s", version)
	return binary, command(ctx, source, "go", "build", "-trimpath", "-ldflags", flags, "-o", binary, ".")
}

// command runs a command in a folder. Its error has what the command printed.
func command(ctx context.Context, folder string, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = folder
	var output bytes.Buffer
	c.Stderr = &output
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s in %s: %w\n%s", name, args[0], folder, err, strings.TrimSpace(output.String()))
	}
	return nil
}

// Package e2e checks the catalogue against a real API server over HTTP.
package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/loadgen/apiserver"
)

var (
	binary = flag.String("binary", "", "the API server's program; by default it is built from folder controlplane")
	seed   = flag.Uint64("seed", 1, "of the churn")
	logs   = flag.Bool("logs", false, "show what the server and the informers log")
)

// patience is for busy machines: a reflector backs off for up to 30 s.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	flag.Parse()
	if !*logs {
		klog.LogToStderr(false)
		klog.SetOutput(io.Discard) // the errors of cut connections, which the tests cause
	}
	if *binary == "" {
		built, err := apiserver.Build(context.Background(), "../controlplane", os.Stderr)
		if errors.Is(err, apiserver.ErrUnavailable) {
			fmt.Println("SKIP: no end-to-end test was run:", err)
			os.Exit(0)
		}
		if err != nil {
			fmt.Println("FAIL:", err)
			os.Exit(1)
		}
		*binary = built
	}
	os.Exit(m.Run())
}

// serve runs a server until the test ends.
func serve(t *testing.T, flags ...string) *apiserver.Server {
	t.Helper()
	options := apiserver.Options{Binary: *binary, Flags: flags}
	if *logs {
		options.Log = os.Stderr
	}
	server, err := apiserver.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

// poll waits until a condition is met, at most for the patience there is.
func poll(t *testing.T, condition wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, condition)
}

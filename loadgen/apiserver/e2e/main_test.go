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

	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/loadgen/apiserver"
)

var (
	binary = flag.String("binary", "", "the API server's program; by default it is built from folder controlplane")
	seed   = flag.Uint64("seed", 1, "of the churn")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if !testing.Verbose() {
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
	server, err := apiserver.Start(t.Context(), apiserver.Options{Binary: *binary, Flags: flags})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

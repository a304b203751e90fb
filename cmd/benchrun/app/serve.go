package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/informerbench/informerbench/reports"
	"github.com/spf13/cobra"
)

func serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Browse runs and their profiles",
		Long: `Serve shows the result directories in DIR, newest first, with their decisions,
reports and raw data, and pprof's pages (flame graph, top, peek) of every stored
profile. It answers on this machine only, until Ctrl-C. DIR may be a result
directory itself.`,
		Example: `  benchrun serve reports/out
  benchrun serve reports/sample --addr 127.0.0.1:8080`,
		Args: wantArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := loopback(addr); err != nil {
				return err
			}
			server, err := reports.NewServer(args[0])
			if err != nil {
				return err
			}
			defer server.Close()
			listener, err := net.Listen("tcp", addr)
			if err != nil {
				return fmt.Errorf("--addr: %w", err)
			}
			printLine(cmd.OutOrStdout(), "http://%s/ shows %s; Ctrl-C ends it", listener.Addr(), args[0])
			return serve(cmd.Context(), listener, server)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "loopback address to listen on; port 0 takes a free one")
	return cmd
}

// loopback refuses what other machines could reach: results have no login.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--addr: found %q, expected HOST:PORT, as in 127.0.0.1:8080", addr)
	}
	if host == "" || !reports.Loopback(addr) {
		return fmt.Errorf("--addr: found %q, expected a loopback address, as in 127.0.0.1:8080 or [::1]:8080: serve has no login (from elsewhere, use ssh -L)", addr)
	}
	return nil
}

// serve answers until the context ends, then lets what is under way finish.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

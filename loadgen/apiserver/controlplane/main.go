// Command controlplane is etcd and kube-apiserver in one process, for tests on one
// machine. Package apiserver starts it and says where the files that its flags
// name are.
//
//  1. It serves etcd on sockets in the current folder, which also holds the data.
//  2. It serves the API on the listening socket that it inherits as file 3. All
//     its flags are kube-apiserver's.
//  3. It obeys orders on its standard input, one a line, and answers each with a
//     line on its standard output: "compact" discards etcd's history, so that
//     watches from the past expire, and answers with the revision kept.
//  4. It ends when its standard input does, so it never outlives its parent.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	basecompatibility "k8s.io/component-base/compatibility"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// run serves until the context or the orders end.
func run(ctx context.Context, args []string, orders io.Reader, answers io.Writer) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	api, err := configure(ctx, args)
	if err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	etcd, err := startEtcd()
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.Close()
	go func() {
		defer end()
		for lines := bufio.NewScanner(orders); lines.Scan(); {
			fmt.Fprintln(answers, obey(ctx, etcd, lines.Text()))
		}
	}()
	if err := app.Run(ctx, api); err != nil && ctx.Err() == nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	return nil
}

// startEtcd starts etcd on unix sockets, so that it needs neither ports nor
// certificates, and without fsync: the data need not survive the machine.
func startEtcd() (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = "etcd"
	config.UnsafeNoFsync = true
	config.LogLevel = "warn"
	client, peer := url.URL{Scheme: "unix", Host: etcdSocket}, url.URL{Scheme: "unix", Host: "peer.sock"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, err
	}
}

const etcdSocket = "etcd.sock"

// obey carries out one order.
func obey(ctx context.Context, etcd *embed.Etcd, order string) string {
	if order != "compact" {
		return fmt.Sprintf("error: unknown order %q, expected compact", order)
	}
	revision := etcd.Server.KV().Rev()
	if _, err := etcd.Server.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: revision, Physical: true}); err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint(revision)
}

// configure reads kube-apiserver's flags as its own command does, and makes it
// listen on the inherited socket.
func configure(ctx context.Context, args []string) (completed options.CompletedOptions, err error) {
	s := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range s.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		return completed, err
	}
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return completed, fmt.Errorf("file 3 must be a listening socket: %w", err)
	}
	s.SecureServing.Listener = listener
	s.SecureServing.ExternalAddress = listener.Addr().(*net.TCPAddr).IP
	s.Etcd.StorageConfig.Transport.ServerList = []string{"unix://" + etcdSocket}

	registry := s.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return completed, err
	}
	if err := logsapi.ValidateAndApply(s.Logs, registry.FeatureGateFor(basecompatibility.DefaultKubeComponent)); err != nil {
		return completed, err
	}
	if completed, err = s.Complete(ctx); err != nil {
		return completed, err
	}
	return completed, errors.Join(completed.Validate()...)
}

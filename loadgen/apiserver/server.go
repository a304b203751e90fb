package apiserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options say how a server is run.
type Options struct {
	// Binary is the path of the program that Build made.
	Binary string
	// Flags are further flags of kube-apiserver. They come last and win, as in
	// "--watch-cache-sizes=pods#0".
	Flags []string
	// Log receives what etcd and kube-apiserver print, if it is not nil.
	Log io.Writer
}

// A Server is a running API server. Its methods may be called from several
// goroutines, Restart and Stop from one at a time.
type Server struct {
	options  Options
	folder   string // of everything: keys, kubeconfigs, data
	listener *os.File
	address  string // host:port
	identity *identity
	client   *http.Client

	mu      sync.Mutex // of process and of its orders, one at a time
	process *process
}

// readyWithin is for slow machines: a server is usually ready in a few seconds.
const readyWithin = 2 * time.Minute

// Start runs a server and returns when it is ready. The caller must Stop it.
// The error of a server that does not become ready ends with what it printed last.
func Start(ctx context.Context, options Options) (*Server, error) {
	if _, err := os.Stat(options.Binary); err != nil {
		return nil, fmt.Errorf("the server's program: %w (Build makes it)", err)
	}
	folder, err := os.MkdirTemp("", "apiserver-")
	if err != nil {
		return nil, err
	}
	s := &Server{options: options, folder: folder}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// prepare opens the socket and writes the files that the server is started with.
func (s *Server) prepare() error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close() // the duplicate below stays open, so the port stays taken
	s.address = listener.Addr().String()
	if s.listener, err = listener.(*net.TCPListener).File(); err != nil {
		return err
	}
	if s.identity, err = newIdentity(s.folder); err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.identity.authority.certificate)
	s.client = &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			DisableKeepAlives: true,
		},
	}
	return s.writeKubeconfig(s.Kubeconfig(), user{Token: s.identity.token})
}

// start runs the child until it is ready.
func (s *Server) start(ctx context.Context) error {
	process, err := startProcess(s.options, s.folder, s.listener, s.identity.flags())
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.process = process
	s.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	go func() {
		select {
		case <-process.done:
			cancel() // a request would wait for a server to take it off the socket
		case <-ctx.Done():
		}
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		problem := s.ready(ctx)
		if problem == nil {
			return nil
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		select {
		case <-process.done:
			return fmt.Errorf("the API server ended before it was ready: %w\n%s", process.err, process.output.Tail())
		default:
			return fmt.Errorf("the API server is not ready: %w, last: %w\n%s", ctx.Err(), problem, process.output.Tail())
		}
	}
}

// ready asks the server whether it is ready to serve.
func (s *Server) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.identity.token)
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz: %s", response.Status)
	}
	return nil
}

// URL returns the server's address, "https://127.0.0.1:PORT". It stays the same
// over restarts.
func (s *Server) URL() string { return "https://" + s.address }

// Address returns the server's host and port, for a Proxy.
func (s *Server) Address() string { return s.address }

// Kubeconfig returns the path of a kubeconfig whose user may do everything. It
// is removed by Stop.
func (s *Server) Kubeconfig() string { return filepath.Join(s.folder, "kubeconfig") }

// KubeconfigFor returns the path of a kubeconfig for a user in some groups, known
// to the server by a client certificate made for it. What the user may do is for
// RBAC roles and bindings to say.
func (s *Server) KubeconfigFor(name string, groups ...string) (string, error) {
	certificate, key, err := s.identity.authority.issueClient(name, groups)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(s.folder, "kubeconfig-")
	if err != nil {
		return "", err
	}
	file.Close()
	return file.Name(), s.writeKubeconfig(file.Name(), user{Certificate: certificate, Key: key})
}

// Done returns a channel that is closed when the child process has ended, by
// Stop, by Restart or by itself.
func (s *Server) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.done
}

// Compact discards all of etcd's history and returns the revision that is kept.
// A watch that etcd itself serves, and that asks for an older one, is answered
// with 410 Gone; a resource with a watch cache is served from that instead,
// until a Restart.
func (s *Server) Compact() (revision int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, err := s.process.order("compact")
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(answer, &revision); err != nil {
		return 0, fmt.Errorf("compact: %s", answer)
	}
	return revision, nil
}

// Restart ends the server and starts it again with the same data, keys and
// address. Its watch caches begin anew. Who connects meanwhile waits for it.
func (s *Server) Restart(ctx context.Context) error {
	s.process.stop()
	return s.start(ctx)
}

// Stop ends the server and removes its files. Called again it does nothing.
func (s *Server) Stop() error {
	if s.process != nil {
		s.process.stop()
	}
	if s.listener != nil {
		s.listener.Close()
	}
	return os.RemoveAll(s.folder)
}

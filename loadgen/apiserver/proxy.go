package apiserver

import (
	"io"
	"net"
	"sync"
)

// A Proxy is a network that fails: it passes TCP connections on to a server, and
// cuts or refuses them when told to. Its address is on loopback too, so that the
// server's certificate holds for it.
type Proxy struct {
	target, address string
	running         sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	open     map[net.Conn]struct{}
}

// NewProxy listens on a free port for connections to target, a host:port. The
// caller must Close it.
func NewProxy(target string) (*Proxy, error) {
	p := &Proxy{target: target, address: "127.0.0.1:0", open: map[net.Conn]struct{}{}}
	return p, p.Accept()
}

// Address returns the proxy's host and port, which stay the same.
func (p *Proxy) Address() string { return p.address }

// Cut resets all open connections and returns how many clients that were.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut()
}

func (p *Proxy) cut() int {
	n := len(p.open) / 2
	for c := range p.open {
		reset(c)
		delete(p.open, c)
	}
	return n
}

// Refuse cuts all connections, and until Accept new ones are refused.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	p.cut()
}

// Accept passes connections on again.
func (p *Proxy) Accept() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		return nil
	}
	listener, err := net.Listen("tcp4", p.address)
	if err != nil {
		return err
	}
	p.listener, p.address = listener, listener.Addr().String()
	p.running.Go(func() { p.accept(listener) })
	return nil
}

// Close cuts all connections and returns when the proxy has ended.
func (p *Proxy) Close() {
	p.Refuse()
	p.running.Wait()
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	p.mu.Lock()
	if p.listener == nil {
		p.mu.Unlock()
		reset(client)
		reset(server)
		return
	}
	p.open[client], p.open[server] = struct{}{}, struct{}{}
	p.mu.Unlock()

	p.running.Go(func() { p.pass(server, client) })
	p.pass(client, server)
}

// pass copies one direction until either side ends, which ends both.
func (p *Proxy) pass(to, from net.Conn) {
	io.Copy(to, from)
	to.Close()
	from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, to)
	delete(p.open, from)
}

// reset closes a connection so that the other side sees an error, not an end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

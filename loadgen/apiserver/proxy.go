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
	listener *net.TCPListener // nil while connections are refused
	open     map[*net.TCPConn]struct{}
}

// NewProxy listens on a free port for connections to target, a host:port. The
// caller must Close it.
func NewProxy(target string) (*Proxy, error) {
	p := &Proxy{target: target, address: "127.0.0.1:0", open: map[*net.TCPConn]struct{}{}}
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
	for c := range p.open { // all before any is closed: pass closes the other side
		c.SetLinger(0)
	}
	for c := range p.open {
		c.Close()
	}
	clear(p.open)
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
	p.listener, p.address = listener.(*net.TCPListener), listener.Addr().String()
	p.running.Go(func() { p.accept(listener.(*net.TCPListener)) })
	return nil
}

// Close cuts all connections and returns when the proxy has ended.
func (p *Proxy) Close() {
	p.Refuse()
	p.running.Wait()
}

func (p *Proxy) accept(listener *net.TCPListener) {
	for {
		client, err := listener.AcceptTCP()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client *net.TCPConn) {
	client.SetLinger(0) // if the server can't be reached, so that the client sees an error and not an end
	c, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	server := c.(*net.TCPConn)
	p.mu.Lock()
	if p.listener == nil {
		p.mu.Unlock()
		client.Close()
		server.Close()
		return
	}
	client.SetLinger(-1)
	p.open[client], p.open[server] = struct{}{}, struct{}{}
	p.mu.Unlock()

	p.running.Go(func() { p.pass(server, client) })
	p.pass(client, server)
}

// pass copies one direction until either side ends, which ends both.
func (p *Proxy) pass(to, from *net.TCPConn) {
	io.Copy(to, from)
	to.Close()
	from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, to)
	delete(p.open, from)
}

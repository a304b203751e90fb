package apiserver

import (
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestProxy(t *testing.T) {
	defer goleak.VerifyNone(t)
	echo, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	proxy, err := NewProxy(echo.Addr().String())
	require.NoError(t, err)
	defer proxy.Close()
	address := proxy.Address()

	dial := func() net.Conn {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = c.Write([]byte("hello"))
		require.NoError(t, err)
		answer := make([]byte, 5)
		_, err = io.ReadFull(c, answer)
		require.NoError(t, err)
		require.Equal(t, "hello", string(answer))
		return c
	}
	broken := func(c net.Conn) {
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(t, err, syscall.ECONNRESET)
		require.NoError(t, c.Close())
	}

	first, second := dial(), dial()
	require.Equal(t, 2, proxy.Cut())
	broken(first)
	broken(second)

	third := dial()
	proxy.Refuse()
	broken(third)
	_, err = net.Dial("tcp", address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.Zero(t, proxy.Cut())

	require.NoError(t, proxy.Accept())
	require.Equal(t, address, proxy.Address())
	fourth := dial()
	require.NoError(t, fourth.(*net.TCPConn).CloseWrite()) // the server's answer of that is passed on
	_, err = fourth.Read(make([]byte, 1))
	require.Error(t, err)
	require.NoError(t, fourth.Close())
	proxy.Close()
}

package app

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServeUntilInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out, in := io.Pipe()
	code := make(chan int, 1)
	dir := t.TempDir()
	go func() { code <- testSuite().Main(ctx, []string{"serve", dir}, in, io.Discard) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	address, _, _ := strings.Cut(line, " ")
	r, err := http.Get(address)
	require.NoError(t, err)
	page, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	assert.Contains(t, string(page), "There is no result directory here yet")
	interrupt()
	assert.Equal(t, exitOK, <-code)
}

func TestServeBadInput(t *testing.T) {
	for line, want := range map[string]string{
		"serve":                         "found 0 arguments, expected DIR",
		"serve /none":                   "no such file or directory",
		"serve . --addr 0.0.0.0:80":     `--addr: found "0.0.0.0:80", expected a loopback address`,
		"serve . --addr :80":            `--addr: found ":80", expected a loopback address`,
		"serve . --addr example.com:80": "expected a loopback address",
		"serve . --addr 127.0.0.1":      "expected HOST:PORT",
		"serve . --addr 127.0.0.1:many": "--addr: listen tcp",
		"schema":                        "found 0 arguments, expected csv|drive|election|",
		"schema report":                 `unknown schema "report", expected one of csv, drive, election, `,
	} {
		code, _, stderr := benchrun(t, strings.Fields(line)...)
		assert.Equal(t, exitUsage, code, line)
		assert.Contains(t, stderr, want)
	}
}

func TestSchema(t *testing.T) {
	code, stdout, _ := benchrun(t, "schema", "stats")
	assert.Zero(t, code)
	var schema struct{ Title string }
	require.NoError(t, json.Unmarshal([]byte(stdout), &schema))
	assert.Equal(t, "stats.json", schema.Title)
}

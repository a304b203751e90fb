package scrape

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// IsURL reports that a source is asked for over HTTP.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// patience is how long a scrape may take.
const patience = 30 * time.Second

// Read takes the scrapes of a file, gzipped or not, or one from a URL.
func Read(ctx context.Context, source string) ([]*Snapshot, error) {
	if IsURL(source) {
		return get(ctx, source)
	}
	f, err := os.Open(source)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return unzip(source, f)
}

func unzip(source string, r io.Reader) ([]*Snapshot, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
		return Parse(source, in)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	s, err := Parse(source, z)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: the gzip data is cut short, expected a whole scrape", err)
	}
	return s, err
}

// Redacted is a source as it may be printed: a URL without its password.
func Redacted(source string) string {
	if u, err := url.Parse(source); err == nil && IsURL(source) {
		return u.Redacted()
	}
	return source
}

func get(ctx context.Context, address string) ([]*Snapshot, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := answer(limited, address)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return nil, fmt.Errorf("%s: no whole answer came within %v, expected one", Redacted(address), patience)
	}
	for _, s := range list {
		if s.Taken.IsZero() {
			s.Taken = time.Now()
		}
	}
	return list, err
}

func answer(ctx context.Context, address string) ([]*Snapshot, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err // which url.Error redacts
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: answered %s, expected 200 OK (kubectl get --raw of the pod's proxy may have the rights to ask)", Redacted(address), answer.Status)
	}
	return unzip(Redacted(address), answer.Body)
}

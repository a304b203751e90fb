// Package atomicfile writes files that appear whole or not at all, so that no
// reader sees half of one and a full disk leaves none behind.
package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"github.com/informerbench/informerbench/bench/experiment/plain"
)

// writing is held while a file is half written.
var writing sync.RWMutex

// Wait waits for the writes that have begun, for a program that ends in the midst of
// them.
func Wait() {
	writing.Lock()
	defer writing.Unlock()
}

// Check says before any work whether path can't be a file's, as it is a directory or
// lies in none.
func Check(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, expected a file", path)
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: found no directory %s", path, folder)
	}
	return nil
}

// Write replaces the file path in one step. What is no regular file, such as a
// device or a pipe, is written to as it is.
func Write(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return os.WriteFile(path, data, 0)
	}
	if err := Check(path); err != nil {
		return err
	}
	writing.RLock()
	defer writing.RUnlock()
	temp := Beside(path)
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		if at := (*os.PathError)(nil); errors.As(err, &at) {
			at.Path = path // not the name that is tried
		}
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// Beside is a name in path's folder that no other process has, for a file that
// gets its own name when it is whole.
func Beside(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".benchrun-%d-%08x.part", os.Getpid(), rand.Uint32()))
}

// WriteJSON replaces the file path with v as indented JSON.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return Write(path, append(plain.JSON(b), '\n'))
}

// Append adds a line to a file, which it makes: the whole line or nothing of it.
// A line that was cut off before stays a line of its own.
func Append(path string, line []byte) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	size := info.Size()
	defer func() {
		if err != nil && info.Mode().IsRegular() {
			err = errors.Join(err, f.Truncate(size))
		}
		err = errors.Join(err, f.Close())
	}()
	if last := make([]byte, 1); size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	return f.Sync()
}

package rawtext

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// MaxSize bounds the memory of whoever reads a file: about 3 million samples.
const MaxSize = 256 << 20

// WholeLines is the length of f up to its last line's end.
func WholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("is not a regular file, expected the Go benchmark format")
	}
	if info.Size() > MaxSize {
		return 0, fmt.Errorf("is %d MiB, expected at most %d MiB", info.Size()>>20, MaxSize>>20)
	}
	buf := make([]byte, 4096)
	for end := info.Size(); end > 0; {
		start := max(0, end-int64(len(buf)))
		part := buf[:end-start]
		if _, err := f.ReadAt(part, start); err != nil {
			return 0, err
		}
		if i := strings.LastIndexByte(string(part), '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

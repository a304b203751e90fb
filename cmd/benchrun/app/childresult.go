package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/informerbench/informerbench/bench/experiment/lab"
)

// resultMark begins the line of a child that holds its result.
const resultMark = "result: "

// printResult prints what childResult reads, on a line of its own.
func printResult(w io.Writer, result any) error {
	b, err := json.Marshal(result)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s%s\n", resultMark, b)
	return err
}

// childResult starts this program again with args and reads the result that it prints.
func childResult[T any](ctx context.Context, timeout time.Duration, args ...string) (T, error) {
	var result T
	program, err := self(args...)
	if err != nil {
		return result, err
	}
	stdout, err := lab.RunChild(ctx, program, timeout)
	for line := range bytes.Lines(stdout) {
		if text, ok := bytes.CutPrefix(line, []byte(resultMark)); ok {
			err := json.Unmarshal(text, &result)
			return result, err
		}
	}
	if err == nil {
		err = fmt.Errorf("the child left no result: %s", oneLine(errors.New(string(stdout))))
	}
	return result, err
}

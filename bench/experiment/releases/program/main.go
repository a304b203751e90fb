// Command program is what releases builds once for each version of a dependency:
// cases over upstream's own types, in the API that client-go has had since
// v0.34. It is compiled here with this module's versions and, from the same
// source, elsewhere with others.
//
//	program list               the cases, as JSON
//	program CASE ARM TIME      one sample in the Go benchmark format
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// A benchCase is one benchmark. Its JSON is read by releases.
type benchCase struct {
	Component string
	Name      string
	Summary   string
	Unit      string
	run       func(b *testing.B)
}

// more are the cases of files that not every version is built with.
var more []benchCase

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	cases := slices.Concat(queueCases(), cacheCases(), informerCases(), more)
	if len(args) == 1 && args[0] == "list" {
		return json.NewEncoder(os.Stdout).Encode(cases)
	}
	if len(args) != 3 {
		return fmt.Errorf("found %d arguments, expected list, or CASE ARM TIME", len(args))
	}
	i := slices.IndexFunc(cases, func(c benchCase) bool { return c.Component+"/"+c.Name == args[0] })
	if i < 0 {
		return fmt.Errorf("unknown case %q", args[0])
	}
	if os.Getenv("BENCHRUN_PARENT") == "stdin" { // that pipe ends with the parent
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(2)
		}()
	}
	testing.Init()
	for name, value := range map[string]string{"test.run": "^$", "test.bench": ".", "test.benchtime": args[2]} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	var title strings.Builder // "delta-fifo" is DeltaFifo, as in every raw.txt
	for part := range strings.SplitSeq(cases[i].Component, "-") {
		title.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	every := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(every, nil, []testing.InternalBenchmark{{
		Name: "Benchmark" + title.String() + "/" + cases[i].Name + "/impl=" + args[1],
		F: func(b *testing.B) {
			// A panic that passes through package testing may print a figure first.
			defer func() {
				if r := recover(); r != nil {
					fmt.Fprintf(os.Stderr, "panic: %v\n\n%s", r, debug.Stack())
					os.Exit(2)
				}
			}()
			cases[i].run(b)
		},
	}}, nil)
	return nil
}

// Command platforms type-checks and vets the packages of a folder for each of the given
// platforms, from source:
//
//	go run ./scripts/platforms -C impl linux/386 windows/arm64
//
// go vet would have the compiler make all that they import first, for each platform: ten
// minutes of processor time where the packages are Kubernetes' and the cache is empty.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/atomicalign"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/packages"
)

// analyzers are those of go vet whose answer may depend on the platform, or costs nothing.
var analyzers = []*analysis.Analyzer{
	assign.Analyzer, atomic.Analyzer, atomicalign.Analyzer, bools.Analyzer, buildtag.Analyzer, copylock.Analyzer, directive.Analyzer,
	ifaceassert.Analyzer, nilfunc.Analyzer, shift.Analyzer, stdversion.Analyzer, unusedresult.Analyzer,
}

func main() {
	dir := flag.String("C", ".", "the folder")
	flag.Parse()
	failed := flag.NArg() == 0
	for _, platform := range flag.Args() {
		found, err := check(*dir, platform)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
		}
		failed = failed || found || err != nil
	}
	if failed {
		os.Exit(1)
	}
}

// check says whether anything was found.
func check(dir, platform string) (found bool, err error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return false, fmt.Errorf("expected a system and a processor, as in linux/386")
	}
	all, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir, Tests: true,
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return false, err
	}
	if n := packages.PrintErrors(all); n > 0 {
		return true, fmt.Errorf("%d errors", n)
	}
	graph, err := checker.Analyze(analyzers, all, nil)
	if err != nil {
		return false, err
	}
	for act := range graph.All() {
		if act.Err != nil {
			return true, fmt.Errorf("%s: %w", act, act.Err)
		}
		found = found || act.IsRoot && len(act.Diagnostics) > 0
	}
	fmt.Printf("%s: %d packages\n", platform, len(all))
	return found, graph.PrintText(os.Stderr, -1)
}

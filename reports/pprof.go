package reports

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// driverLock: pprof's driver keeps its configuration in package variables.
var driverLock sync.Mutex

// servePprof answers with one of the pages of pprof's web interface on p, less
// base if that is not nil: both are scaled to the same total, so that shares are
// compared.
func servePprof(p, base *profile.Profile, w http.ResponseWriter, r *http.Request, page string) error {
	driverLock.Lock()
	defer driverLock.Unlock()
	return driver.PProf(&driver.Options{
		Flagset: &flags{flag.NewFlagSet("pprof", flag.ContinueOnError), base != nil},
		Fetch:   fetcher{p, base},
		Sym:     noSymbols{},
		UI:      silent{},
		HTTPServer: func(args *driver.HTTPServerArgs) error {
			args.Handlers[page].ServeHTTP(w, r)
			return nil
		},
	})
}

// flags gives pprof's driver its command line: an address that is never
// listened on, and profiles that fetcher has in memory.
type flags struct {
	*flag.FlagSet
	diff bool
}

func (f *flags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}
func (f *flags) ExtraUsage() string     { return "" }
func (f *flags) AddExtraUsage(_ string) {}

func (f *flags) Parse(func()) []string {
	f.SetOutput(io.Discard)
	// All that differs between pages is given each time: pprof remembers the last.
	args := []string{"-http=localhost:1", "-no_browser", "-symbolize=none", fmt.Sprintf("-normalize=%t", f.diff)}
	if f.diff {
		args = append(args, "-diff_base="+baseSource)
	}
	if err := f.FlagSet.Parse(append(args, "profile")); err != nil {
		return nil
	}
	return f.Args()
}

// baseSource is the name under which fetcher gives the profile to subtract.
const baseSource = "base"

type fetcher struct{ p, base *profile.Profile }

func (f fetcher) Fetch(source string, _, _ time.Duration) (*profile.Profile, string, error) {
	if source == baseSource {
		return f.base.Copy(), "", nil
	}
	return f.p.Copy(), "", nil
}

// noSymbols: Go's profiles come with their symbols.
type noSymbols struct{}

func (noSymbols) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }

type silent struct{}

func (silent) ReadLine(string) (string, error)              { return "", io.EOF }
func (silent) Print(...any)                                 {}
func (silent) PrintErr(...any)                              {}
func (silent) IsTerminal() bool                             { return false }
func (silent) WantBrowser() bool                            { return false }
func (silent) SetAutoComplete(complete func(string) string) {}

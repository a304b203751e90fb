package reports

import (
	"flag"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"
)

// driverLock: pprof's driver keeps its configuration in package variables.
var driverLock sync.Mutex

// servePprof answers with one of the pages of pprof's web interface.
func servePprof(p *profile.Profile, w http.ResponseWriter, r *http.Request, page string) error {
	driverLock.Lock()
	defer driverLock.Unlock()
	return driver.PProf(&driver.Options{
		Flagset: &flags{flag.NewFlagSet("pprof", flag.ContinueOnError)},
		Fetch:   fetcher{p},
		Sym:     noSymbols{},
		UI:      silent{},
		HTTPServer: func(args *driver.HTTPServerArgs) error {
			args.Handlers[page].ServeHTTP(w, r)
			return nil
		},
	})
}

// flags gives pprof's driver its command line: an address that is never
// listened on, and a profile that fetcher has in memory.
type flags struct{ *flag.FlagSet }

func (f *flags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}
func (f *flags) ExtraUsage() string     { return "" }
func (f *flags) AddExtraUsage(_ string) {}

func (f *flags) Parse(func()) []string {
	f.SetOutput(io.Discard)
	if err := f.FlagSet.Parse([]string{"-http=localhost:1", "-no_browser", "-symbolize=none", "profile"}); err != nil {
		return nil
	}
	return f.Args()
}

type fetcher struct{ p *profile.Profile }

func (f fetcher) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
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

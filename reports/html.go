package reports

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/informerbench/informerbench/bench/experiment/wording"
)

var (
	//go:embed assets/echarts.min.js
	echarts string
	//go:embed assets/page.js
	pageJS string
	//go:embed assets/lines.js
	linesJS string
	//go:embed assets/charts.js
	chartsJS string
	//go:embed assets/scaling.js
	scalingJS string
	//go:embed assets/drive.js
	driveJS string
	//go:embed assets/flames.js
	flamesJS string
	//go:embed assets/start.js
	startJS string
	//go:embed assets/report.css
	reportCSS string
	//go:embed assets/shell.html.tmpl
	shellHTML string
	//go:embed assets/report.html.tmpl
	reportHTML string
)

// application is a page's script, with what is the page's own. The last file starts the
// others.
func application(own string) string {
	return pageJS + linesJS + chartsJS + scalingJS + driveJS + flamesJS + own + startJS
}

var htmlTemplate = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"join": strings.Join, "plural": wording.Count,
}).Parse(shellHTML + reportHTML))

// renderHTML prints the page as report.html: one file that needs no other and
// no network. Its content security policy allows exactly the two scripts that
// are in it, so that a name that found a way into the page could still not run.
func renderHTML(p *page) ([]byte, error) {
	var buf bytes.Buffer
	err := htmlTemplate.Execute(&buf, struct {
		*page
		shell
		Links []link
		Data  pageData
	}{p, newShell(p.Title+": "+p.Subtitle, ""), p.links, pageData{newCharts(p), p.Profiles, kindNames(), p.Drive}})
	return buf.Bytes(), err
}

// A shell is what all pages have in common: style, scripts, and the policy that
// lets these run and no others.
type shell struct {
	Tab                  string // the page's title
	Policy               string
	CSS                  template.CSS
	ECharts, Application template.JS
}

// newShell is of a page with that title and script of its own.
func newShell(tab, own string) shell {
	script := application(own)
	policy := fmt.Sprintf("default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src %s %s; base-uri 'none'; form-action 'none'", hash(echarts), hash(script))
	return shell{tab, policy, template.CSS(reportCSS), template.JS(echarts), template.JS(script)}
}

// hash is a script's source expression in a content security policy.
func hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageData is what the page's script draws from.
type pageData struct {
	Charts   []chart     `json:"charts"`
	Profiles *profileSet `json:"profiles"`
	Kinds    []string    `json:"kinds"`
	Drive    *driven     `json:"drive"`
}

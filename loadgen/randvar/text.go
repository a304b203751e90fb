package randvar

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

type unit uint8

const (
	plain unit = iota
	seconds
	bytes
)

type form struct {
	name       string
	parameters int // quantiles takes any number
	example    string
}

// forms are the texts of the kinds, in their order.
var forms = []form{
	none:        {},
	constant:    {"constant", 1, "constant(5ms)"},
	uniform:     {"uniform", 2, "uniform(1ms, 3ms)"},
	exponential: {"exp", 1, "exp(10ms)"},
	lognormal:   {"lognormal", 2, "lognormal(5ms, 80ms)"},
	pareto:      {"pareto", 2, "pareto(1ms, 1.5)"},
	gamma:       {"gamma", 2, "gamma(10ms, 0.5)"},
	quantiles:   {"quantiles", 0, "quantiles(0=1ms, 0.5=5ms, 1=1s)"},
}

// maxText keeps a hostile text from becoming a large distribution.
const maxText = 10_000

// Parse reads the text form of a distribution (see the package comment). Values
// are durations ("5ms", "1m30s"), sizes ("8Ki", "1.5Mi", "2k") or plain numbers,
// of one sort in one distribution.
func Parse(text string) (Dist, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Dist{}, fmt.Errorf("found nothing, expected a value such as 5ms or a distribution such as %s", forms[lognormal].example)
	}
	if len(text) > maxText {
		return Dist{}, fmt.Errorf("found %d characters, expected at most %d", len(text), maxText)
	}
	name, rest, called := strings.Cut(text, "(")
	if !called {
		name, rest = forms[constant].name, text+")"
	}
	name = strings.TrimSpace(name)
	k := slices.IndexFunc(forms, func(f form) bool { return f.name == name })
	if name == "" || k < 0 {
		return Dist{}, fmt.Errorf("unknown distribution %q, expected constant, uniform, exp, lognormal, pareto, gamma or quantiles", clip(name))
	}
	inside, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return Dist{}, fmt.Errorf("found %q without a closing parenthesis, expected a form such as %s", clip(text), forms[k].example)
	}
	p := parser{Dist: Dist{kind: kind(k)}, form: forms[k]}
	parameters := strings.Split(inside, ",")
	var err error
	if p.kind == quantiles {
		err = p.readPoints(parameters)
	} else {
		err = p.readParameters(parameters)
	}
	if err != nil {
		return Dist{}, err
	}
	return p.Dist, nil
}

// A parser fills in a distribution.
type parser struct {
	Dist
	form    form
	settled bool // a value other than a bare 0 has decided the unit
}

func (p *parser) readParameters(texts []string) (err error) {
	if len(texts) != p.form.parameters {
		return fmt.Errorf("found %d parameters of %s, expected %d as in %s", len(texts), p.form.name, p.form.parameters, p.form.example)
	}
	if p.a, err = p.value(texts[0]); err != nil || len(texts) == 1 {
		return err
	}
	if p.kind == pareto || p.kind == gamma {
		p.b, err = strconv.ParseFloat(strings.TrimSpace(texts[1]), 64)
		if err != nil {
			return fmt.Errorf("found %q, expected a plain number as in %s", clip(strings.TrimSpace(texts[1])), p.form.example)
		}
	} else if p.b, err = p.value(texts[1]); err != nil {
		return err
	}
	return p.check()
}

// check is about parameters that don't fit each other.
func (d Dist) check() error {
	wrong := ""
	switch {
	case d.kind == uniform && d.b < d.a:
		wrong = "the larger bound second"
	case d.kind == lognormal && !(d.a > 0 && d.b >= d.a && d.b/d.a <= 1e9):
		wrong = "a median above 0 and a 99th percentile from it to a billion times it"
	case d.kind == pareto && !(d.a > 0 && d.b > 1 && d.b <= 1000):
		wrong = "a minimum above 0 and a tail index above 1 and up to 1000"
	case d.kind == gamma && !(d.b >= 0.01 && d.b <= 100):
		wrong = "a coefficient of variation from 0.01 to 100"
	default:
		return nil
	}
	return fmt.Errorf("found %s, expected %s as in %s", d, wrong, forms[d.kind].example)
}

func (p *parser) readPoints(texts []string) error {
	for _, text := range texts {
		share, value, ok := strings.Cut(text, "=")
		at, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if !ok || err != nil || !(at >= 0 && at <= 1) {
			return fmt.Errorf("found %q, expected a share from 0 to 1, = and a value as in %s", clip(strings.TrimSpace(text)), p.form.example)
		}
		next := point{p: at}
		if next.value, err = p.value(value); err != nil {
			return err
		}
		if n := len(p.points); n > 0 && !(at > p.points[n-1].p && next.value >= p.points[n-1].value) {
			return fmt.Errorf("found %q out of order, expected rising shares and values as in %s", clip(strings.TrimSpace(text)), p.form.example)
		}
		p.points = append(p.points, next)
	}
	if n := len(p.points); n < 2 || p.points[0].p != 0 || p.points[n-1].p != 1 {
		return fmt.Errorf("found quantiles that don't span all shares, expected them from 0 to 1 as in %s", p.form.example)
	}
	return nil
}

var multiples = []struct {
	suffix string
	factor float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9},
}

// value reads a number with or without a unit, which must be that of the others.
func (p *parser) value(text string) (float64, error) {
	text = strings.TrimSpace(text)
	value, u, err := quantity(text)
	if err != nil || !(value >= 0 && value <= 1e15) {
		return 0, fmt.Errorf("found %q, expected a duration such as 5ms, a size such as 8Ki or a number, from 0 to 1e15", clip(text))
	}
	if u == plain && value == 0 {
		return 0, nil
	}
	if p.settled && u != p.unit {
		return 0, fmt.Errorf("found %q beside a value of another unit, expected durations, sizes or numbers alone", clip(text))
	}
	p.unit, p.settled = u, true
	return value, nil
}

func quantity(text string) (float64, unit, error) {
	if value, err := strconv.ParseFloat(text, 64); err == nil {
		return value, plain, nil
	}
	for _, m := range multiples {
		if digits, ok := strings.CutSuffix(text, m.suffix); ok {
			value, err := strconv.ParseFloat(digits, 64)
			return value * m.factor, bytes, err
		}
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), seconds, err
}

func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

// String returns a text that Parse reads as the same distribution; that of the
// zero Dist is empty.
func (d Dist) String() string {
	switch d.kind {
	case none:
		return ""
	case constant:
		return d.format(d.a)
	case pareto, gamma:
		return fmt.Sprintf("%s(%s, %s)", forms[d.kind].name, d.format(d.a), strconv.FormatFloat(d.b, 'g', -1, 64))
	case quantiles:
		var b strings.Builder
		for i, p := range d.points {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.FormatFloat(p.p, 'g', -1, 64) + "=" + d.format(p.value))
		}
		return "quantiles(" + b.String() + ")"
	}
	if forms[d.kind].parameters == 1 {
		return fmt.Sprintf("%s(%s)", forms[d.kind].name, d.format(d.a))
	}
	return fmt.Sprintf("%s(%s, %s)", forms[d.kind].name, d.format(d.a), d.format(d.b))
}

func (d Dist) format(value float64) string {
	switch d.unit {
	case seconds:
		return time.Duration(math.Round(value * 1e9)).String()
	case bytes:
		for _, m := range []int{2, 1, 0} {
			if scaled := value / multiples[m].factor; scaled >= 1 && scaled == math.Trunc(scaled) {
				return strconv.FormatFloat(scaled, 'f', -1, 64) + multiples[m].suffix
			}
		}
		return strconv.FormatFloat(value/1e3, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}

// MarshalText implements encoding.TextMarshaler.
func (d Dist) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. An empty text is the zero Dist.
func (d *Dist) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Dist{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err == nil {
		*d = parsed
	}
	return err
}

package experiment

import (
	"path/filepath"
	"strings"
)

// ProfileDir is where the profiles of a case's variant lie, relative to the
// result directory: profiles/<component>_<case>/<variant>.
func ProfileDir(c PlannedCase, variant string) string {
	return filepath.Join("profiles", fileName(c.Key()), fileName(variant))
}

// fileName keeps what is safe in a path on every system; case names stay
// readable, "/" becomes "_".
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '=', r == '.', r == ',':
			return r
		}
		return '_'
	}, strings.TrimLeft(s, "."))
}

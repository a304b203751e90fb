// Package schema holds the JSON Schemas (draft 2020-12) of the files in a
// result directory, for whoever reads them with tools of their own.
//
// The schema's version is in every JSON file's field "schema". Fields may be
// added within a version, so readers should pass over those they don't know.
package schema

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.schema.json
var files embed.FS

const suffix = ".schema.json"

// Names lists what Get knows.
func Names() []string {
	found, _ := fs.Glob(files, "*"+suffix) // the pattern is well-formed
	for i, name := range found {
		found[i] = strings.TrimSuffix(name, suffix)
	}
	return found
}

// Get is the schema of run.json for "run", of stats.json for "stats", of a line
// of stats.csv for "csv", and so on; false for another name.
func Get(name string) ([]byte, bool) {
	b, err := files.ReadFile(name + suffix)
	return b, err == nil
}

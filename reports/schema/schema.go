// Package schema holds the JSON Schemas (draft 2020-12) of the files in a
// result directory, for whoever reads them with tools of their own.
//
// The schema's version is in every file's field "schema". Fields may be added
// within a version, so readers should pass over those they don't know.
package schema

import "embed"

//go:embed *.schema.json
var files embed.FS

// Names lists what Get knows.
func Names() []string { return []string{"run", "stats"} }

// Get is the schema of run.json for "run" and of stats.json for "stats"; false
// for another name.
func Get(name string) ([]byte, bool) {
	b, err := files.ReadFile(name + ".schema.json")
	return b, err == nil
}

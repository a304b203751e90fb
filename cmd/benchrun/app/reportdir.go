package app

import (
	"cmp"
	"os"
	"path/filepath"
)

// A reportDir is where advice is written: the directory that a flag names, or a new one.
type reportDir struct {
	path string
	kind string // ends the name of a new one
}

// check refuses a directory that can't take the report.
func (d *reportDir) check() error {
	return checkOut(cmp.Or(d.path, filepath.Join("reports", "out", d.kind+"-new")))
}

// write has a report written, unless somebody else has written there meanwhile.
func (d *reportDir) write(write func(dir string) error) error {
	var err error
	if d.path, err = resultDir(d.path, d.kind); err != nil {
		return err
	}
	if err := os.MkdirAll(d.path, 0o777); err != nil {
		return err
	}
	return write(d.path)
}

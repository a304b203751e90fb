package app

import (
	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/impl/conformance"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/reports"
)

// Default is benchrun's own suite: the whole catalogue.
func Default() Suite {
	return Suite{
		Cases:       bench.Cases,
		Check:       bench.Options.Validate,
		Workloads:   workloads,
		Conformance: conformance.Tests,
		Report:      reports.Write,
	}
}

// workloads describes the embedded presets.
func workloads() [][2]string {
	var all [][2]string
	for _, name := range loadgen.Presets() {
		summary := ""
		if spec, err := loadgen.Preset(name); err == nil {
			summary = spec.Description
		}
		all = append(all, [2]string{name, summary})
	}
	return all
}

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/impl/conformance"
)

// TestPeers runs the contract on every peer, except for what it relaxes.
func TestPeers(t *testing.T) {
	inCatalogue := conformance.Tests()
	if err := add(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, test := range conformance.Tests() {
		known := slices.ContainsFunc(inCatalogue, func(k testing.InternalTest) bool { return k.Name == test.Name })
		// An informer over an indexer, say, is the catalogue's.
		if component, _, _ := strings.Cut(test.Name, "/"); !known {
			t.Run(test.Name, test.F)
			if component == "indexer" {
				n++
			}
		}
	}
	if n != 7 {
		t.Errorf("%d indexers tested, expected 7", n)
	}
}

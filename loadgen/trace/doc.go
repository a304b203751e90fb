// Package trace holds recordings of watch traffic: it opens them in any form
// found in the wild, and a recording is a [loadgen.Stream].
package trace

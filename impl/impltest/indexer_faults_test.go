package impltest

import "testing"

// indexerFaults are faults and the clauses that they break.
var indexerFaults = map[string][]string{
	"left-on-update":         {"index-entry-left-behind"},
	"left-on-delete":         {"index-entry-left-behind"},
	"empty-values-kept":      {"empty-index-values-removed"},
	"first-value-only":       {"multi-value-index"},
	"index-repeats":          {"multi-value-index"},
	"keys-unsorted":          {"index-keys-sorted"},
	"unknown-is-empty":       {"unknown-index-error"},
	"nil-results":            {"empty-results-non-nil"},
	"shared-list":            {"returned-slices-owned-by-caller"},
	"lost-update":            {"stored-objects"},
	"replace-adds":           {"replace"},
	"plain-key-error":        {"key-error"},
	"stale-version":          {"resource-version"},
	"bookmark-ignored":       {"resource-version"},
	"version-kept-on-delete": {"resource-version"},
	"version-forgotten":      {"delete-keeps-resource-version"},
	"transaction-version":    {"transaction"},
	"stops-at-bad":           {"transaction-skips-bad"},
	"bad-unreported":         {"transaction-skips-bad"},
	"data-ignored":           {"add-indexers-with-data"},
	"conflict-adds-others":   {"indexer-conflict-changes-nothing"},
	"conflict-replaces":      {"indexer-conflict-changes-nothing"},
	"indexers-shared":        {"indexers-owned-by-store"},
	"error-swallowed":        {"index-func-error-panics"},
	"other-message":          {"index-func-error-panics"},
	"lock-kept":              {"index-func-error-panics"},
	"leaked-reference":       {"no-retained-objects"},
	"torn-list":              {"one-moment"},
	"torn-by-index":          {"object-and-index-together"},
	"index-after-object":     {"object-and-index-together"},
	"transaction-one-by-one": {"transaction-one-moment"},
	"replace-in-steps":       {"replace-one-moment"},
	"check-then-act":         {"concurrent", "linearizable"},
	"no-transaction":         {"transaction"},
	"long-batch-cut":         {"transaction-equals-calls"},
	"stored-before-panic":    {"index-func-error-changes-nothing"},
	"read-error-swallowed":   {"index-func-error-of-reads"},
	"left-on-plain-update":   {"differential"},
}

func TestPlantedIndexers(t *testing.T) {
	t.Parallel()
	planting[newIndexer]{clauses: indexerClauses(), own: indexerClauses(), new: newPlantedIndexer, faults: indexerFaults}.test(t)
}

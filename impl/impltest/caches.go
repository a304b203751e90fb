package impltest

import "slices"

// cacheClauses lists those of the cache family, which needs a newer client-go than the
// work queue family.
func cacheClauses() []Clause {
	return slices.Concat(listed("FIFO", fifoClauses()), listed("DeltaFIFO", deltaFIFOClauses()), listed("InOrderFIFO", inOrderClauses()),
		listed("Indexer", indexerClauses()), listed("Informer", informerClauses()), listed("Backlog", backlogClauses), listed("Handler", handlerClauses))
}

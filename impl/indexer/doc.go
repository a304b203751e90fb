// Package indexer stores the objects of an informer and finds them by key and by
// index. Each variant is a cache.Indexer that takes transactions, as
// cache.NewIndexer's is, and so goes into an informer unchanged.
//
//  1. An Indexer names each object with its key function.
//  2. Its store evaluates the index functions, before it changes anything.
//  3. The write is applied at one moment, with all index entries.
//  4. Readers see one moment.
package indexer

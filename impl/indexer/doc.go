// Package indexer stores the objects of an informer and finds them by key and by
// index. Each variant is a cache.Indexer that takes transactions, as
// cache.NewIndexer's is, and so takes its place unchanged. Its store is a
// cache.ThreadSafeStore for those who name objects themselves.
//
//  1. An Indexer names each object with its key function.
//  2. Its store evaluates the index functions, before it changes anything: an
//     index function that fails leaves the store as it was.
//  3. The write is applied at one moment, with all its index entries.
//  4. Each read sees one moment, and its answer belongs to the caller.
//
// # Which one
//
// NewLocked is the reference: one RWMutex around a map and index sets, to read
// and to compare with.
//
// NewSharded has a lock, a map and index sets for each of 32 shards. A call with
// one key takes one lock; everything else takes all of them, which costs more
// than with one lock. It pays for many goroutines that read and write single keys
// without indices, and for nothing else.
//
// NewSnapshot is for controllers. Listers copy outside the lock, so they don't
// keep the informer's writer waiting (kubernetes/kubernetes#130767). Objects lie
// in chunks of 64 without gaps. A reader of many objects takes a snapshot, which
// is a pointer and a number; a writer copies a chunk before it changes it, if
// there is a reader who may still see it, and at most once a snapshot. Get takes
// no lock. The index values of each object are remembered as positions in the
// indices, so an update calls each index function once, and one that changes no
// value touches no index; of several values only those that come or go are
// touched (kubernetes/kubernetes#142307). All and AllByIndex iterate without a
// copy, beside the interface.
//
// # What it costs
//
// NewSnapshot against client-go v0.37.2, each ratio within one run, the rows from
// several: medians on two shared cores, pods with keys of 24 bytes, 100,000 of
// them unless it says otherwise.
//
//	Get of 1,000; 10,000; 100,000; 1,000,000, the same 64          ×0.74 to ×0.89; ×0.78 to ×1.0; ×0.91; ×0.99
//	the same at random                                             ×0.77 to ×0.87; ×0.90 to ×0.97; ×0.63 to ×0.97; ×0.92
//	the same of keys that are not there                            ×0.57; ×0.76 to ×0.83; ×0.50; ×0.52
//	Get of 1,000; 10,000; 100,000 with keys of 40 to 90 bytes      ×0.62 to ×0.89; ×0.72 to ×1.1; ×0.85 to ×1.4
//	Replace without indices of 10,000; 100,000                     ×0.67 to ×0.80; ×0.51 to ×0.73
//	building without indices                                       ×0.52 to ×0.67
//	Update of the same 64 objects with 4 indices                   ×0.54 to ×0.93
//	List of 10,000; 100,000, garbage collected before each sample  ×0.19 to ×0.27; ×0.24 to ×0.44
//	ByIndex of 1,000 of 10,000; 100,000, likewise                  ×0.10; ×0.05
//	AllByIndex against ByIndex                                     ×0.09; ×0.04
//	reads and updates 95:5 by key on both cores, 10,000 objects    ×0.43 to ×0.89
//	bytes an object with 0, 1, 4 indices, with its key             74 (×0.96); 87 (×0.67); 147 (×0.55)
//	the same of 10,000                                             74 (×0.83); 88 (×0.61); 148 (×0.53)
//
// These were measured before the tables took their present form, and not again:
//
//	writes/s beside 10 and 40 goroutines that list without pause   ×3,600 and ×6,000
//	the same with 10,000 objects; with pauses of 5 ms              ×500; ×36
//	writes/s beside 10 that call ByIndex of 1,000 of them          ×55 to ×340
//	the same beside 40, with 10,000 objects                        ×87 to ×180
//	lists/s and ByIndex calls/s meanwhile, by run and size         ×0.4 to ×7.5; ×1.4 to ×3.8
//	CPU time of List; ByIndex of 1,000, with garbage collection    ×0.35 to ×1.1; ×0.34 to ×0.42
//	Replace with 1, 4 indices                                      ×0.28; ×0.20
//	building with 4 indices                                        ×0.38 to ×0.67
//	Update of the same 64 objects with 0, 1 indices                ×0.64; ×0.53
//	Update at random with 0, 1, 4 indices, on a busy machine       ×0.72; ×0.70; ×1.0
//	Delete and Add with 0, 4 indices                               ×1.0; ×0.77
//
// How it grew before that, from a thousand objects to a million, in nanoseconds of
// CPU on the same machine while it was busy. The objects are metadata with one index, in
// random order, so that all growth is cache misses; the same for client-go in
// brackets. Bytes an object go from 94 (162) to 97 (170).
//
//	            1k          10k          100k           1M
//	Get         20 (19)     27 (23)      180 (240)      350 (340)
//	Update      93 (210)    260 (330)    1,090 (1,350)  1,550 (2,220)
//
// The same without what objects cost, up to ten million: an object is its key, in
// an index with a thousand members a value (BenchmarkGrowth, wall time, the faster
// of two runs on two busy cores). A key's bytes are without the key itself.
//
//	                1k         10k        100k          1M         10M
//	Get        25 (26)     18 (22)     33 (67)   116 (147)   133 (372)
//	Update   183 (275)   116 (215)   133 (324)   267 (403)   493 (916)
//	bytes     71 (137)    64 (120)    60 (107)    66 (138)    63 (122)
//
// So Get may lose where very many long keys are read at random. Keys that Replace
// stores share a string by sixteen, which stays until the last of them goes: of a
// store that shrinks to a few objects it may hold sixteen times their keys. A
// store of fewer than about 600 objects with fewer than four indices takes more
// memory than client-go's: it begins with 4 KB and 2 to 3 KB an index. A write
// beside readers allocates up to 2.5 KB, which is garbage when the readers are
// done. An iteration that is never ended (iter.Pull without stop) makes the writer
// copy for ever after.
package indexer

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
// than with one lock. A writer gets between ten listers 9 to 17 times as often as
// with client-go's. Otherwise NewLocked and NewSharded take 0.7 to 1.2 times
// client-go's CPU time: least in an Update of values that stay (10,000 objects,
// medians of three interleaved samples); a Replace in NewSharded takes as long as
// client-go's.
//
// NewSnapshot is for controllers. Listers copy outside the lock, so they don't
// keep the informer's writer waiting (kubernetes/kubernetes#130767). Objects lie
// in chunks of 32, with one gap at most. A reader of many objects takes a snapshot,
// which is a pointer and a number; a writer copies a chunk before it changes it, if
// there is a reader who may still see it, and at most once a snapshot. Get takes
// no lock. The index values of each object are remembered as positions in the
// indices, so an update calls each index function once, and one that changes no
// value touches no index; of several values only those that come or go are
// touched (kubernetes/kubernetes#142307). All and AllByIndex iterate without a
// copy, beside the interface. While there are writes, a goroutine that has listed for
// 0.2 ms ends a list with a call of the scheduler, as Go would let it go on for 10 ms
// before a writer who waits for a processor: never sooner than 20 µs later for each
// write that was made the last time, nor than it was away itself, if that was over 3 ms.
//
// # What it costs
//
// NewSnapshot against client-go v0.37.2: how many times as fast it is, in CPU time
// if not said otherwise. Medians of three to five interleaved samples of the cases
// in package bench on two shared cores, with the least and the greatest ratio in
// brackets where there was one run; pods with keys of 24 bytes, 100,000 of them
// unless it says otherwise.
//
//	writes/s beside 10 and 40 goroutines that list without pause  14,000x to 120,000x; 1,300x to 12,000x
//	lists/s meanwhile                                             5.7x; 6.3x (on two AMD cores 2.1x; 2.4x)
//	the same with 10,000 objects and 10 listers                   3,000x to 5,200x; lists 2.0x (1.7x to 3.4x)
//	the same, 10 that pause 5 ms; 40 that do, 10,000 objects      10,000x to 13,000x; 4.2x (2.9x to 20x)
//	writes/s beside 10 and 40 that call ByIndex of 1,000 of them  106x, 222x (90x to 300x); 138x (30x to 3,000x)
//	ByIndex calls/s meanwhile, 10 and 40 of them                  3.2x; 1.8x (AMD)
//	lateness beside 10 listers at 1,000 writes/s, p99, AMD        3.7 ms for 34 to 95 ms of 10,000; 45 ms for 2.1 s
//	the same with GOMAXPROCS=1, of 10,000                         3.9 ms for 380 ms
//	reads and updates 95:5 on both cores, 10,000; 100,000         1.5x (1.4x to 1.6x); 1.9x, 4.8x (1.3x to 5.6x)
//	the same, by the clock                                        2.4x (1.3x in another run); 3.1x, 8.4x
//	Update of the same 64 objects with 0, 1, 4 indices            1.9x (1.5x to 2.0x); 2.0x; 1.8x
//	Update at random with 0, 1, 4 indices                         1.7x (1.4x to 1.8x); 1.6x; 1.3x, 1.3x, 1.5x (1.0x to 2.0x)
//	the same with 4 indices, 10,000                               1.6x, 1.8x (1.0x to 2.1x)
//	Delete and Add of the same 64 with 0, 4 indices               1.3x (1.1x to 1.4x); 2.1x (1.8x to 2.35x)
//	Delete and Add at random with 0, 4 indices                    1.0x, 1.1x (0.9x to 1.2x); 1.5x (1.3x to 1.6x)
//	Delete of one and Add of another, 10,000; 100,000             1.3x (1.25x to 1.7x); 1.1x (1.1x to 1.2x)
//	List of 10,000; 100,000                                       2.6x; 1.6x, 2.0x (0.7x to 2.6x)
//	ByIndex of 1,000 of 10,000; 100,000                           2.0x to 3.2x (2.0x to 4.8x); 3.2x (2.2x to 3.9x)
//	the same, by the clock                                        2.8x to 4.0x; 5.2x
//	the same of members that were stored at random                2.2x (2.0x to 3.6x); 2.6x (1.8x to 3.6x)
//	Replace of 100,000 with 0, 1, 4 indices, samples of 1 s, 2 s  1.7x (1.6x to 1.8x); 3.5x (3.2x to 3.9x); 4.3x (3.5x to 4.7x)
//	Replace of 10,000 without indices                             1.3x, 1.3x, 1.4x (1.05x to 1.5x)
//	building 10,000; 100,000 without indices                      1.25x, 1.3x (0.9x to 1.6x); 1.0x, 1.7x (0.8x to 1.8x)
//	building 10,000; 100,000 with 4 indices                       2.0x (1.4x to 2.5x); 2.35x (2.1x to 2.55x)
//	bytes an object with 0, 1, 4 indices, with its key            71 for 76; 84 for 131; 130 for 267
//	the same of 10,000 without indices                            76 for 90
//	the same of 1,000,000 with 0, 1, 4 indices, keys of 31 bytes  77 for 116; 89 for 171; 167 for 357
//
// Over 23 sizes from 3,000 to 300,000 an object takes 0.84 times client-go's bytes,
// 0.68 where client-go's map has just grown, 1.10 where it is about to. While 10
// goroutines list twenty times a second, lists under way included, it is 191 to 213
// for 210 to 225 bytes of 10,000, and 684 to 699 for 479 of 100,000.
//
// With GOMAXPROCS=1 ByIndex has 2.7x, 4.1x (1.9x to 4.3x) and 6.0x, List 1.9x to 2.7x
// and 2.2x, Delete and Add of 10,000 without indices 1.35x (1.3x to 1.6x) of the same
// 64 and 1.1x (0.9x to 1.4x) at random, lists/s beside the writer 2.6x of 10,000 and
// 7.9x of 100,000. With two, a processor that is idle marks garbage, the same for
// both: that is two fifths of what ByIndex costs here, before the write barriers that
// it makes a copy take, and a sixth of a Replace. In samples of 0.3 s a Replace of
// 100,000 without indices has 1.1x to 1.4x only: NewSnapshot gets as far as the first
// collection after the set-up, and client-go does not. Two thirds of an Update at
// random with 4 indices is the reading of the new object, for its key and by index
// functions.
//
// Slower than client-go: building an indexer of one object 0.7x (0.6x to 0.9x), with an
// index 0.9x (0.8x to 1.0x), of ten 0.8x (0.7x to 0.9x) and 1.05x (0.8x to 1.2x);
// Replace of one 0.75x (0.6x to 0.9x), 1.0x (0.9x to 1.2x). Of 100 objects: ByIndex
// that finds little, by 2 and 16 goroutines without pause that store an object every
// hundredth time, 0.5x, 0.8x (0.2x to 1.2x; of 30,000 1.5x), as readers lock each other
// out for a moment; Delete of the oldest and Add of a new one 0.9x, with an index of a
// value an object 0.7x, 0.9x (0.65x to 1.1x). In some samples: deletion of half of
// 1,000 to 100,000 at random 1.1x to 1.2x (0.9x to 1.4x), and with adding them again,
// by the clock, 0.9x of 10,000 (0.7x to 1.0x) and 1.0x of 100,000 (0.95x to 1.3x);
// deletion of half of 100,000 with 3, 5 and 12 values each 1.3x, 1.3x, 1.2x (0.8x to
// 2.0x), Delete and Add of them at random 1.0x, 1.7x, 1.3x (0.7x to 2.0x). Delete and
// Add of the same 64 of 10,000 objects with 4 and 20 values each have 1.5x (1.4x to
// 1.8x) and 1.3x (1.0x to 1.6x), by the clock. IndexKeys of 100 and 1,000 of 100,000
// has 0.8x to 1.0x (0.7x to 1.3x) with GOMAXPROCS=1: sorting takes most of it. Get at random
// of pods a field of which is read at once has 0.9x of 1,000,000 (0.85x to 0.97x) and 0.9x,
// 1.0x of 300,000 (0.7x to 1.2x), as an object lies apart from the table of keys and is one
// cache miss further away; adding half of 300,000 again without indices, 0.9x (0.85x to
// 1.4x), as the table grows again. Keys of 10 and 60 bytes, sizes of 1,000, 3,000, 30,000
// and 300,000, an index of one value, of a value an object and of four, one of which
// changes, and all else that a survey of those tried were not slower.
//
// Get at random, nanoseconds with client-go's in brackets, medians of six interleaved
// samples, each in a process of its own: from 100,000 on a sample may be twice another,
// as its memory lies, and single ratios of a million are 0.8x to 1.3x.
//
//	             keys of 24 bytes   of 40 to 90   no such key
//	1,000        16 (21)            23 (27)       9 (20)
//	10,000       23 (29)            42 (48)       10 (22)
//	100,000      220 (256)          315 (437)     17 (48)
//	1,000,000    379 (372)          364 (409)     115 (133)
//
// Of the same 64 it takes 16 ns (22).
//
// Small stores have one table for all keys, and begin with room for four objects. Of
// 100 and 10 objects Replace has 1.1x (1.0x to 1.3x) and 1.1x (0.9x to 1.2x), with an
// index 1.6x (1.5x to 2.2x) and 1.3x (1.05x to 1.7x); building 100 1.1x (1.0x to 1.2x),
// 1.35x (1.2x to 1.7x). An indexer of none takes 320 bytes for 320, of
// 1, 10, 100 880, 1,650, 8,490 for 696, 1,240, 7,700, with an index 1,460, 2,380, 10,700
// for 1,620, 2,420, 11,900. Over 39 sizes up to 4,000 it is 1.1 times client-go's, 0.7 to
// 1.4, and 1.7 of five to eight, with an index 0.9 (0.5 to 1.3).
//
// AllByIndex of 1,000 took 2.7 µs of 10,000 pods, 2.9 µs of 100,000 metadata, client-go's
// ByIndex 45 µs with the marking of its garbage (17x, 14x to 19x) and 95 µs (33x, 30x
// to 39x); with GOMAXPROCS=1, of 10,000, 10x (8x to 13x). Calling the loop's body takes
// most of it. In other runs it had 13x (11x to 17x) of 10,000 pods and 23x (19x to 27x)
// of 100,000, and of members that were stored at random 12x (9x to 18x) and 15x (11x to
// 19x).
//
// How it grows to ten million, without what objects cost: an object is its key, in
// an index with a thousand members a value, in random order, so that all growth is
// cache misses (BenchmarkGrowth, nanoseconds, means of two runs, one run of 10M;
// client-go in brackets). A key's bytes are without the key itself.
//
//	                1k         10k        100k          1M         10M
//	Get        15 (19)     16 (23)     23 (53)   115 (173)   122 (238)
//	Update    86 (142)    95 (160)   118 (318)   295 (404)   563 (595)
//	bytes     71 (137)    63 (120)    60 (107)    57 (139)    61 (122)
//
// Tried without effect: to read the names of a long list ahead in Replace, to read
// what an Update needs of the table before the index functions run (slower), to copy
// results by four stores in a row and the members in a row apart. Slower: to gather
// results on the stack and to copy them in one piece.
//
// Keys that Replace stores share a string by sixteen, which stays until the last of
// them goes: of a store that shrinks to a few objects it may hold sixteen times their
// keys. A write beside readers copies some 512 bytes an array that it changes, which
// are garbage when the readers are done. An iteration that is never
// ended (iter.Pull without stop) makes the writer copy for ever after.
package indexer

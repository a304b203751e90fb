// Package indexer stores the objects of an informer and finds them by key and by index. To use
// it, change the constructor:
//
//	cache.NewIndexer(keyFunc, indexers)   becomes   indexer.NewSnapshot(keyFunc, indexers)
//
// Each variant is a cache.Indexer that takes transactions, as cache.NewIndexer's is, and so takes
// its place unchanged. Its store is a cache.ThreadSafeStore for those who name objects themselves.
//
//  1. An Indexer names each object with its key function.
//  2. Its store evaluates the index functions before it changes anything: an index function that
//     fails leaves the store as it was.
//  3. The write is applied at one moment, with all its index entries.
//  4. Each read sees one moment, and its answer belongs to the caller.
//
// # Which one
//
//   - NewSnapshot is for controllers. Listers copy outside the lock, so they don't keep the
//     informer's writer waiting (kubernetes/kubernetes#130767), Get takes no lock, and of an
//     object's index values only those that come or go are touched (kubernetes/kubernetes#142307).
//     Beside the interface, All and AllByIndex iterate without a copy.
//   - NewSharded has a lock, a map and index sets for each of 32 shards. A call with one key takes
//     one lock; everything else takes all of them, which costs more than with one lock. Between ten
//     listers a writer gets its turn 9 to 17 times as often as with client-go's. A Replace takes as
//     long as client-go's.
//   - NewLocked is the reference: one RWMutex around a map and index sets, to read and to compare
//     with.
//
// Otherwise NewLocked and NewSharded take 0.7 to 1.2 times client-go's CPU time: least in an Update
// of values that stay (10,000 objects, medians of three interleaved samples).
//
// # Should you switch?
//
// Who gains from NewSnapshot: programs whose goroutines list while events come, by far; then those
// with several indices, and those that can iterate in place of listing.
//
// Who does not: programs with stores of a few objects; those whose goroutines read a store of 100
// objects by index, find little and write now and then; those whose time goes into IndexKeys, into
// deleting large parts of a store and adding them again, or into getting objects at random out of
// 300,000 or more and reading them at once. See "Where it is slower".
//
// What it costs:
//
//   - While there are writes, goroutines that list give way to others every now and then.
//   - A write beside readers copies some 512 bytes an array that it changes, which are garbage when
//     the readers are done.
//   - An iteration that is never ended (iter.Pull without stop) makes the writer copy for ever after.
//   - Keys that Replace stores share a string by sixteen, which stays until the last of them goes: a
//     store that shrinks to a few objects may hold sixteen times their keys.
//
// # How the figures were measured
//
// All are of NewSnapshot against client-go v0.37.2. A ratio says how many times as fast it is, in
// CPU time unless a row says otherwise: medians of three to five interleaved samples of the cases in
// package bench on two shared cores. Several medians, with commas, are of several runs; the least
// and the greatest ratio are in brackets. Objects are pods with keys of 24 bytes. Figures marked AMD
// are of two AMD cores.
//
// # Readers beside a writer
//
// One goroutine writes while others list or call ByIndex, without pause unless a row says so:
//
//	                                  objects  beside 10                 beside 40
//	writes/s beside List              100,000  14,000× to 120,000×       1,300× to 12,000×
//	                                  10,000   3,000× to 5,200×
//	lists/s meanwhile                 100,000  5.7× (AMD 2.1×)           6.3× (AMD 2.4×)
//	                                  10,000   2.0× (1.7× to 3.4×)
//	writes/s, 5 ms between lists      100,000  10,000× to 13,000×
//	                                  10,000                             4.2× (2.9× to 20×)
//	writes/s beside ByIndex of 1,000  100,000  106×, 222× (90× to 300×)  138× (30× to 3,000×)
//	ByIndex calls/s meanwhile         100,000  3.2×                      1.8× (AMD)
//
// How late a write is beside ten listers when 1,000 a second are due, 99th percentile, AMD:
//
//	objects  processors    NewSnapshot  client-go
//	10,000   two           3.7 ms       34 to 95 ms
//	100,000  two           45 ms        2.1 s
//	10,000   GOMAXPROCS=1  3.9 ms       380 ms
//
// # Other loads
//
//	                                                10,000 objects               100,000 objects
//	reads and updates 95:5 on both cores            1.5× (1.4× to 1.6×)          1.9×, 4.8× (1.3× to 5.6×)
//	    by the clock                                2.4× (1.3× in another run)   3.1×, 8.4×
//	List                                            2.6×                         1.6×, 2.0× (0.7× to 2.6×)
//	ByIndex of 1,000                                2.0× to 3.2× (2.0× to 4.8×)  3.2× (2.2× to 3.9×)
//	    by the clock                                2.8× to 4.0×                 5.2×
//	    members stored at random                    2.2× (2.0× to 3.6×)          2.6× (1.8× to 3.6×)
//	Delete of one and Add of another, by the clock  1.3× (1.25× to 1.7×)         1.1× (1.1× to 1.2×)
//	building without indices                        1.25×, 1.3× (0.9× to 1.6×)   1.0×, 1.7× (0.8× to 1.8×)
//	building with 4 indices                         2.0× (1.4× to 2.5×)          2.35× (2.1× to 2.55×)
//
// By the number of indices, 100,000 objects (Replace of them: samples of 1 s and 2 s):
//
//	                            none                              1                    4
//	Update of the same 64       1.9× (1.5× to 2.0×)               2.0×                 1.8×
//	Update at random            1.7× (1.4× to 1.8×)               1.6×                 1.3×, 1.3×, 1.5× (1.0× to 2.0×)
//	    of 10,000 objects                                                              1.6×, 1.8× (1.0× to 2.1×)
//	Delete, Add of the same 64  1.3× (1.1× to 1.4×)                                    2.1× (1.8× to 2.35×)
//	Delete, Add at random       1.0×, 1.1× (0.9× to 1.2×)                              1.5× (1.3× to 1.6×)
//	Replace                     1.7× (1.6× to 1.8×)               3.5× (3.2× to 3.9×)  4.3× (3.5× to 4.7×)
//	    of 10,000 objects       1.3×, 1.3×, 1.4× (1.05× to 1.5×)
//
// With GOMAXPROCS=1:
//
//	                                      10,000 objects             100,000 objects
//	ByIndex of 1,000                      2.7×, 4.1× (1.9× to 4.3×)  6.0×
//	List                                  1.9× to 2.7×               2.2×
//	lists/s beside the writer             2.6×                       7.9×
//	Delete, Add of the same 64, no index  1.35× (1.3× to 1.6×)
//	Delete, Add at random, no index       1.1× (0.9× to 1.4×)
//
// With two processors an idle one marks garbage, the same for both indexers: that is two fifths of
// what ByIndex costs here, not counting the write barriers that it makes a copy take, and a sixth of
// a Replace. In samples of 0.3 s a Replace of 100,000 without indices has 1.1× to 1.4× only:
// NewSnapshot gets as far as the first collection after the set-up, and client-go does not. Two thirds
// of an Update at random with 4 indices goes into reading the new object, for its key and by index
// functions.
//
// Get at random, nanoseconds with client-go's in brackets, medians of six interleaved samples, each
// in a process of its own. From 100,000 on a sample may take twice as long as another, depending on
// how its memory lies, and single ratios of a million are 0.8× to 1.3×:
//
//	           keys of 24 bytes  of 40 to 90  no such key
//	1,000      16 (21)           23 (27)      9 (20)
//	10,000     23 (29)           42 (48)      10 (22)
//	100,000    220 (256)         315 (437)    17 (48)
//	1,000,000  379 (372)         364 (409)    115 (133)
//
// Get of the same 64 takes 16 ns (22).
//
// AllByIndex of 1,000 members, whose ratio is to client-go's ByIndex with the marking of its garbage.
// Calling the loop's body takes most of AllByIndex's time:
//
//	                              AllByIndex  ByIndex
//	10,000 pods                   2.7 µs      45 µs    17× (14× to 19×)
//	    in other runs                                  13× (11× to 17×)
//	    members stored at random                       12× (9× to 18×)
//	    GOMAXPROCS=1                                   10× (8× to 13×)
//	100,000 metadata              2.9 µs      95 µs    33× (30× to 39×)
//	    pods, in other runs                            23× (19× to 27×)
//	    members stored at random                       15× (11× to 19×)
//
// # Where it is slower
//
// Small stores. The first rows are ratios of speed, the last ones bytes with client-go's in brackets:
//
//	                                                   no index              one index
//	building 1                                         0.7× (0.6× to 0.9×)   0.9× (0.8× to 1.0×)
//	building 10                                        0.8× (0.7× to 0.9×)   1.05× (0.8× to 1.2×)
//	building 100                                       1.1× (1.0× to 1.2×)   1.35× (1.2× to 1.7×)
//	Replace of 1                                       0.75× (0.6× to 0.9×)  1.0× (0.9× to 1.2×)
//	Replace of 10                                      1.1× (0.9× to 1.2×)   1.3× (1.05× to 1.7×)
//	Replace of 100                                     1.1× (1.0× to 1.3×)   1.6× (1.5× to 2.2×)
//	of 100, Delete of the oldest and Add of a new one  0.9×                  0.7×, 0.9× (0.65× to 1.1×) (*)
//	bytes of an empty indexer                          320 (320)
//	bytes of 1 object                                  880 (696)             1,460 (1,620)
//	bytes of 10                                        1,650 (1,240)         2,380 (2,420)
//	bytes of 100                                       8,490 (7,700)         10,700 (11,900)
//
// (*) An index of a value an object. Over 39 sizes up to 4,000 an indexer takes 1.1 times client-go's
// bytes, 0.7 to 1.4, and 1.7 of five to eight objects; with an index 0.9 (0.5 to 1.3).
//
// By 2 and 16 goroutines without pause that store an object every hundredth time, ByIndex that finds
// little has 0.5×, 0.8× (0.2× to 1.2×) of 100 objects, as readers lock each other out for a moment; of
// 30,000 it has 1.5×.
//
// Slower in some samples:
//
//	deletion of half of 1,000 to 100,000 at random               1.1× to 1.2× (0.9× to 1.4×)
//	    and adding them again, by the clock, of 10,000           0.9× (0.7× to 1.0×)
//	    of 100,000                                               1.0× (0.95× to 1.3×)
//	deletion of half of 100,000 with 3, 5 and 12 values each     1.3×, 1.3×, 1.2× (0.8× to 2.0×)
//	    Delete and Add of them at random                         1.0×, 1.7×, 1.3× (0.7× to 2.0×)
//	adding half of 300,000 again without indices (1)             0.9× (0.85× to 1.4×)
//	Get at random of pods, of which a field is read at once (2)
//	    of 300,000                                               0.9×, 1.0× (0.7× to 1.2×)
//	    of 1,000,000                                             0.9× (0.85× to 0.97×)
//	IndexKeys of 100 and 1,000 of 100,000, GOMAXPROCS=1 (3)      0.8× to 1.0× (0.7× to 1.3×)
//
// (1) The table grows again. (2) An object lies apart from the table of keys and is one cache miss
// further away. (3) Sorting takes most of it.
//
// Not slower: Delete and Add of the same 64 of 10,000 objects with 4 and 20 values each, 1.5× (1.4× to
// 1.8×) and 1.3× (1.0× to 1.6×) by the clock; keys of 10 and 60 bytes; sizes of 1,000, 3,000, 30,000
// and 300,000; an index of one value, of a value an object and of four, one of which changes; and all
// else that a survey of those tried.
//
// # Memory
//
// Bytes an object, with its key; client-go's in brackets:
//
//	                             no index  1 index   4 indices
//	10,000                       76 (90)
//	100,000                      71 (76)   84 (131)  130 (267)
//	1,000,000, keys of 31 bytes  77 (116)  89 (171)  167 (357)
//
// Over 23 sizes from 3,000 to 300,000 an object takes 0.84 times client-go's bytes, 0.68 where
// client-go's map has just grown, 1.10 where it is about to. While 10 goroutines list twenty times a
// second, lists under way included, it is 191 to 213 (210 to 225) bytes of 10,000, and 684 to 699 (479)
// of 100,000.
//
// # How cost grows
//
// Without what objects cost: an object is its key, in an index with a thousand members a value, in
// random order, so that all growth is cache misses. From BenchmarkGrowth, nanoseconds, means of two
// runs, one run of 10M; client-go in brackets. A key's bytes are without the key itself:
//
//	        1k        10k       100k       1M         10M
//	Get     15 (19)   16 (23)   23 (53)    115 (173)  122 (238)
//	Update  86 (142)  95 (160)  118 (318)  295 (404)  563 (595)
//	bytes   71 (137)  63 (120)  60 (107)   57 (139)   61 (122)
//
// # How NewSnapshot works
//
// Objects lie in chunks of 32, with one gap at most. A reader of many objects takes a snapshot, which
// is a pointer and a number; up to 32 objects are copied under the lock. A writer copies a chunk
// before it changes it if a reader may still see it, and at most once a snapshot. The index values of
// each object are remembered as positions in the indices, so an update calls each index function once,
// and one that changes no value touches no index. Small stores have one table for all keys and begin
// with room for four objects.
//
// Listers take turns with others, as Go would let each of them go on for 10 ms before a writer that
// waits for a processor. While there are writes, a list ends with a call of the scheduler when 0.2 ms
// have passed since a lister of the store last did so; lists of fewer than 8,192 elements do so less
// often, in proportion to their length. After such a call listers go on for 20 µs for each write that
// was made meanwhile, and for as long as the one that gave way was away, if that was over 3 ms; for
// 100 ms at most.
//
// # Tried and left out
//
//   - Without effect: in Replace, reading the names of a long list ahead; copying results by four
//     stores in a row; copying members that lie in a row separately.
//   - Slower: reading what an Update needs of the table before the index functions run; gathering
//     results on the stack and copying them in one piece.
package indexer

package reports

import "strings"

// kinds say in a few words where CPU time goes. A function belongs to the first
// kind one of whose prefixes its full name starts with.
var kinds = []struct {
	Name     string
	Prefixes []string
}{
	{"queue and cache code", []string{
		"github.com/informerbench/informerbench/impl", "k8s.io/client-go", "k8s.io/apimachinery", "k8s.io/utils", "sigs.k8s.io/controller-runtime"}},
	{"locks and channels", []string{
		"sync.", "internal/sync.", "sync/", "internal/runtime/atomic.", "runtime.lock", "runtime.unlock", "runtime.sem", "runtime.chan",
		"runtime.select", "runtime.sellock", "runtime.selunlock", "runtime.(*mutex", "runtime.futex", "runtime.send", "runtime.recv", "runtime.notify", "runtime.procyield", "runtime.osyield"}},
	{"allocation and garbage collection", []string{
		"runtime.malloc", "runtime.newobject", "runtime.gc", "runtime.(*gc", "runtime.scan", "runtime.mark", "runtime.greyobject", "runtime.sweep", "runtime.bg",
		"runtime.(*m", "runtime.memclr", "runtime.memmove", "runtime.growslice", "runtime.makeslice", "runtime.heap", "runtime.next", "runtime.wbBuf",
		"runtime.bulkBarrier", "runtime.typedmem", "runtime.findObject", "runtime.(*lfstack", "runtime.(*span", "runtime.(*sweep", "runtime.(*page", "runtime.(*fix",
		"runtime.deduct", "runtime.publicationBarrier", "runtime.tryDefer", "runtime.sysUse", "runtime.sysFault", "runtime.sysHuge", "runtime.madvise", "runtime.(*wbBuf",
		"runtime.profilealloc", "runtime.assist", "runtime.span", "internal/runtime/gc", "runtime.typePointers", "runtime.(*limiter", "runtime.divRound", "runtime.add"}},
	{"maps, hashing and comparing", []string{
		"internal/runtime/maps", "runtime.map", "runtime.aeshash", "runtime.strhash", "runtime.memhash", "runtime.memequal", "runtime.nilinterhash", "runtime.interhash",
		"runtime.typehash", "runtime.efaceeq", "runtime.ifaceeq", "runtime.strequal", "aeshash", "memeqbody", "cmpbody", "runtime.(*Map", "hash/", "type:.hash", "type:.eq", "runtime.rand", "internal/abi", "internal/bytealg", "internal/chacha8rand"}},
	{"scheduling and the rest of the runtime", []string{"runtime.", "runtime/", "internal/runtime", "_rt0", "gogo", "gosave", "time.", "internal/"}},
	{"load and measurement", []string{"github.com/informerbench/informerbench", "testing.", "main.", "math/rand"}},
	{"other libraries", []string{""}},
}

func kindOf(full string) int {
	for i, kind := range kinds {
		for _, prefix := range kind.Prefixes {
			if strings.HasPrefix(full, prefix) {
				return i
			}
		}
	}
	return len(kinds) - 1
}

func kindNames() []string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.Name
	}
	return names
}

const benchPackage = "github.com/informerbench/informerbench/bench."

// starts tells whether a function only leads to the benchmark.
func starts(full string) bool {
	for _, prefix := range []string{"runtime.goexit", "runtime.main", "main.", "testing.", "github.com/spf13/cobra.",
		"github.com/informerbench/informerbench/cmd/", "github.com/informerbench/informerbench/bench/experiment."} {
		if strings.HasPrefix(full, prefix) {
			return true
		}
	}
	return false
}

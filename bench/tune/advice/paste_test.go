package advice

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every Go snippet compiles against the versions that this module pins, in the
// place where it is to be pasted.
func TestSnippetsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts the compiler")
	}
	if racing {
		t.Skip("starts the compiler, in which the race detector finds nothing")
	}
	limited := predict.Defaults()
	limited.Workers, limited.QPS, limited.Resync, limited.BaseDelay = 12, 62.5, 10*time.Hour, 1500*time.Nanosecond
	free := limited
	free.BucketRate, free.BucketBurst = 0, 0
	list := []predict.Settings{limited, free}
	for _, q := range predict.MeasuredQueues {
		s := predict.Settings{Workers: 1, BaseDelay: time.Millisecond, MaxDelay: time.Minute, BucketRate: 0.5, BucketBurst: 1, Priority: q.Priority, Queue: q.Variant}
		list = append(list, s)
	}
	all, err := os.MkdirTemp(".", "testdata-snippets-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(all) })
	for i, s := range list {
		dir := filepath.Join(all, strconv.Itoa(i))
		require.NoError(t, os.Mkdir(dir, 0o777))
		factory := ""
		if s.Resync > 0 {
			factory = "\t_ = factory\n"
		}
		a := Advice{Queue: `a "queue"`, Recommended: s, Model: &predict.Model{Calls: 1}}
		source := `package main

import (
	"context"
	"time"

	"github.com/informerbench/informerbench/impl/priority"
	"github.com/informerbench/informerbench/impl/ratelimit"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {}

// What only some of the snippets import.
var (
	_ = ratelimit.NewFusedQueue[string]
	_ = priority.New[string]
	_ = priorityqueue.New[string]
	_ = informers.NewSharedInformerFactory
	_ = ptr.To[bool]
	_ = rate.NewLimiter
)

func client(ctx context.Context, config *rest.Config, clientset kubernetes.Interface, worker func(context.Context)) {
` + clientOptions(&a) + factory + `	_ = queue
}

func runtime(config *rest.Config, managerOptions manager.Options) controller.Options {
` + runtimeOptions(&a) + `	return options
}
`
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o666))
	}
	// All at once, as every start of the compiler reads the same imports.
	// They import more of controller-runtime than the suite does, and so more modules.
	modules := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(modules, name), b, 0o666))
	}
	out, err := exec.CommandContext(t.Context(), "go", "vet", "-mod=mod", "-modfile="+filepath.Join(modules, "go.mod"), "./"+all+"/...").CombinedOutput()
	assert.NoError(t, err, "%s\n%+v", out, list)
}

func TestManagerFlags(t *testing.T) {
	advice := func(queue string, workers int, qps float64) Advice {
		s := predict.Defaults()
		s.Workers, s.QPS, s.Burst = workers, qps, int(2*qps)
		return Advice{Queue: queue, Current: predict.Current{Settings: predict.Settings{Workers: 5, QPS: 20, Burst: 30}}, Recommended: s, Now: &predict.Figures{}, Model: &predict.Model{Calls: 1}}
	}
	got := ManagerFlags([]Advice{
		advice("replicaset", 12, 40), advice("garbage_collector_attempt_to_delete", 30, 5), advice("garbage_collector_attempt_to_orphan", 25, 5),
		advice("deployment", 5, 10), {Queue: "job", Refused: "few"},
	})
	require.Len(t, got, 1)
	assert.Equal(t, "--concurrent-gc-syncs=30\n--concurrent-replicaset-syncs=12\n--kube-api-qps=40\n--kube-api-burst=80\n", got[0].Text)
	assert.Empty(t, ManagerFlags([]Advice{{Queue: "job", Refused: "few"}}))

	asByDefault := advice("replicaset", 5, 20)
	asByDefault.Recommended.Burst = 30
	assert.Empty(t, ManagerFlags([]Advice{asByDefault}))
	asByDefault.Current.Workers = 2
	asByDefault.Current.QPS = 10
	got = ManagerFlags([]Advice{asByDefault})
	require.Len(t, got, 1)
	assert.Equal(t, "--concurrent-replicaset-syncs=5\n--kube-api-qps=20\n--kube-api-burst=30\n", got[0].Text)
	assert.Equal(t, "--concurrent-replicaset-syncs=7\n", workersFlag("replicaset", 7))
	assert.Contains(t, workersFlag("ttlcontroller", 7), "no flag")
}

package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/apply"
)

// A mix is what one program watches, in a namespace of its own.
type mix struct {
	name  string
	kinds []kind
}

type kind struct {
	schema.GroupVersionResource
	share  int    // of a hundred
	preset string // the kind of the load generator that makes it, "" for make
	make   func(r *rand.Rand, i int) loadgen.Object
}

var mixes = []mix{
	{"known kinds", []kind{
		{corev1.SchemeGroupVersion.WithResource("pods"), 80, "pod", nil},
		{schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, 20, "lease", nil},
	}},
	{"kinds left out", []kind{
		{corev1.SchemeGroupVersion.WithResource("configmaps"), 50, "", configMap},
		{appsv1.SchemeGroupVersion.WithResource("deployments"), 30, "", deployment},
		{batchv1.SchemeGroupVersion.WithResource("jobs"), 20, "", job},
	}},
}

func findMix(name string) (mix, error) {
	for _, m := range mixes {
		if m.name == name {
			return m, nil
		}
	}
	return mix{}, fmt.Errorf("-mix: found %q, expected one of the table", name)
}

func (m mix) namespace() string { return strings.ReplaceAll(m.name, " ", "-") }

func (m mix) resources() (names []string) {
	for _, k := range m.kinds {
		names = append(names, k.GroupResource().String())
	}
	return names
}

// percentileLabel is what a program selects a part of the objects by: 0 to 99.
const percentileLabel = "percentile"

// part is how many of a mix's objects a program gets that selects so many percent.
func (m mix) part(objects, percent int) (n int) {
	for _, k := range m.kinds {
		created := objects * k.share / 100
		n += created/100*percent + min(created%100, percent)
	}
	return n
}

// fill creates the objects of a mix, each with its status where the kind has one.
func fill(ctx context.Context, config *rest.Config, m mix, objects int) error {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	writer := apply.Writer{Client: client}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for _, k := range m.kinds {
		created := 0
		create := func(object loadgen.Object) {
			object.SetNamespace(m.namespace())
			labels := maps.Clone(object.GetLabels())
			if labels == nil {
				labels = map[string]string{}
			}
			labels[percentileLabel] = strconv.Itoa(created % 100)
			object.SetLabels(labels)
			created++
			group.Go(func() error { return writer.Create(ctx, object) })
		}
		n := objects * k.share / 100
		if k.preset == "" {
			for i := range n {
				create(k.make(rand.New(rand.NewPCG(7, uint64(i))), i))
			}
			continue
		}
		spec := &loadgen.Spec{Seed: 7, Resources: []loadgen.Resource{{Kind: k.preset, Count: n, Events: loadgen.Events{Mix: loadgen.Mix{Update: 1}, Count: 1}}}}
		g, err := spec.Generator()
		if err != nil {
			return err
		}
		for object := range g.First(0) {
			create(object.DeepCopyObject().(loadgen.Object))
		}
	}
	return group.Wait()
}

// objectMeta has what people and tools put on objects.
func objectMeta(r *rand.Rand, kind string, i int) metav1.ObjectMeta {
	app := fmt.Sprintf("service-%d", r.IntN(200))
	return metav1.ObjectMeta{
		Name:        fmt.Sprintf("%s-%s-%05d", app, kind, i),
		Labels:      map[string]string{"app.kubernetes.io/name": app, "app.kubernetes.io/managed-by": "Helm", "team": fmt.Sprintf("team-%d", r.IntN(20))},
		Annotations: map[string]string{"meta.helm.sh/release-name": app, "checksum/config": fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())},
	}
}

// text is that of a file of settings, of a length whose logarithm is normal.
func text(r *rand.Rand, median float64) string {
	var b strings.Builder
	for n := int(median * math.Exp(r.NormFloat64())); b.Len() < n; {
		fmt.Fprintf(&b, "setting.%d.timeout = %d # %x\n", r.IntN(500), r.IntN(10_000), r.Uint32())
	}
	return b.String()
}

func configMap(r *rand.Rand, i int) loadgen.Object {
	c := &corev1.ConfigMap{ObjectMeta: objectMeta(r, "config", i), Data: map[string]string{}}
	for n := range 1 + r.IntN(4) {
		c.Data[fmt.Sprintf("file-%d.properties", n)] = text(r, 1200)
	}
	return c
}

func podTemplate(r *rand.Rand, m metav1.ObjectMeta) corev1.PodTemplateSpec {
	t := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: m.Labels}}
	for c := range 1 + r.IntN(3) {
		container := corev1.Container{
			Name: fmt.Sprintf("container-%d", c), Image: fmt.Sprintf("registry.example.com/team/image-%d:v1.%d.0", r.IntN(50), r.IntN(30)),
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi")}},
		}
		for e := range r.IntN(25) {
			container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", e), Value: fmt.Sprintf("value-%d", r.IntN(1000))})
		}
		t.Spec.Containers = append(t.Spec.Containers, container)
	}
	return t
}

func deployment(r *rand.Rand, i int) loadgen.Object {
	d := &appsv1.Deployment{ObjectMeta: objectMeta(r, "deployment", i)}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: d.Labels}
	d.Spec.Template = podTemplate(r, d.ObjectMeta)
	d.Status = appsv1.DeploymentStatus{Replicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, UpdatedReplicas: 3, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."},
	}}
	return d
}

func job(r *rand.Rand, i int) loadgen.Object {
	j := &batchv1.Job{ObjectMeta: objectMeta(r, "job", i)}
	j.Spec.Template = podTemplate(r, j.ObjectMeta)
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return j
}

// Command schedulerload gives kube-scheduler work, on the API server of KUBECONFIG:
//
//	schedulerload fill      the nodes, in three zones
//	schedulerload schedule  pods at a rate, every second one to be spread over the zones,
//	                        until all have a node
//	schedulerload state     how many pods have one
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/informerbench/informerbench/loadgen/apiserver"
)

var (
	nodes  = flag.Int("nodes", 500, "how many nodes")
	pods   = flag.Int("pods", 3000, "how many pods")
	apps   = flag.Int("apps", 30, "how many apps the pods are of")
	rate   = flag.Float64("rate", 150, "how many pods a second")
	within = flag.Duration("within", 5*time.Minute, "how long the scheduler may take")
)

const (
	atOnce    = 16 // requests under way
	namespace = "team"
	zones     = 3
)

func main() {
	apiserver.Load(map[string]apiserver.Step{"fill": fill, "schedule": schedule, "state": state})
}

func fill(ctx context.Context, c kubernetes.Interface) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := c.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range *nodes {
		g.Go(func() error {
			made, err := c.CoreV1().Nodes().Create(ctx, node(i), metav1.CreateOptions{})
			if err != nil {
				return err
			}
			made.Spec.Taints = nil // a new node has one until a controller has seen that it is ready
			_, err = c.CoreV1().Nodes().Update(ctx, made, metav1.UpdateOptions{})
			return err
		})
	}
	return g.Wait()
}

func node(i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("128Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%zones),
		}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func pod(i int) *corev1.Pod {
	app := map[string]string{"app": fmt.Sprintf("app-%d", i%*apps)}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("pod-%d", i), Labels: app},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "server", Image: "registry.example/server:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
			}},
		}}},
	}
	if i%2 == 1 {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: app},
		}}
	}
	return p
}

// schedule creates the pods and waits until none is without a node.
func schedule(ctx context.Context, c kubernetes.Interface) error {
	g, creating := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	tick := time.NewTicker(time.Duration(float64(time.Second) / *rate))
	defer tick.Stop()
	for i := 0; i < *pods && creating.Err() == nil; i++ {
		<-tick.C
		g.Go(func() error {
			_, err := c.CoreV1().Pods(namespace).Create(creating, pod(i), metav1.CreateOptions{})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, *within, true, func(ctx context.Context) (bool, error) {
		list, err := c.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=", Limit: 1})
		return err == nil && len(list.Items) == 0, err
	})
}

// state prints how many pods there are and how many have a node. Which one each has is chance.
func state(ctx context.Context, c kubernetes.Interface) error {
	list, err := c.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	bound := 0
	for _, p := range list.Items {
		if p.Spec.NodeName != "" {
			bound++
		}
	}
	fmt.Println("pods", len(list.Items), "with a node", bound)
	return nil
}

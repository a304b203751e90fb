// Command load gives the operator something to count, on the API server of KUBECONFIG:
//
//	load fill       the apps and their pods, none of them ready
//	load change     pods that become ready and cease to be, at a rate
//	load state      what the operator made of it
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informerbench/informerbench/loadgen/apiserver"
)

var (
	namespaces = flag.Int("namespaces", 10, "how many namespaces")
	apps       = flag.Int("apps", 20, "how many apps in each")
	pods       = flag.Int("pods", 20, "how many pods of each app")
	changes    = flag.Int("changes", 2000, "how many pods change")
	rate       = flag.Float64("rate", 250, "how many a second")
)

// atOnce is how many requests are under way.
const atOnce = 16

func main() {
	apiserver.Load(map[string]apiserver.Step{"fill": fill, "change": change, "state": state})
}

func namespaceOf(n int) string { return fmt.Sprintf("team-%d", n) }
func appOf(a int) string       { return fmt.Sprintf("app-%d", a) }
func podOf(a, p int) string    { return fmt.Sprintf("app-%d-%d", a, p) }

func fill(ctx context.Context, c kubernetes.Interface) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for n := range *namespaces {
		name := namespaceOf(n)
		if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		for a := range *apps {
			g.Go(func() error {
				_, err := c.CoreV1().ConfigMaps(name).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: appOf(a)}}, metav1.CreateOptions{})
				return err
			})
			for p := range *pods {
				g.Go(func() error {
					_, err := c.CoreV1().Pods(name).Create(ctx, pod(a, p), metav1.CreateOptions{})
					return err
				})
			}
		}
	}
	return g.Wait()
}

func pod(a, p int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: podOf(a, p), Labels: map[string]string{"app": appOf(a), "tier": "backend"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "server", Image: "registry.example/server:1", Args: []string{"--port=8080"},
			Env: []corev1.EnvVar{{Name: "NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
		}}},
	}
}

// change makes pods ready in turns, each namespace's next, and not ready the next time.
func change(ctx context.Context, c kubernetes.Interface) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	tick := time.NewTicker(time.Duration(float64(time.Second) / *rate))
	defer tick.Stop()
	for i := range *changes {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return g.Wait()
		}
		at := i / *namespaces
		a, p, turn := at%*apps, at / *apps % *pods, at / *apps / *pods
		g.Go(func() error {
			x := pod(a, p)
			x.Namespace = namespaceOf(i % *namespaces)
			if x.Status.Phase = corev1.PodRunning; turn%2 == 1 {
				x.Status.Phase = corev1.PodPending
			}
			_, err := c.CoreV1().Pods(x.Namespace).UpdateStatus(ctx, x, metav1.UpdateOptions{})
			return err
		})
	}
	return g.Wait()
}

// state prints what the operator has counted.
func state(ctx context.Context, c kubernetes.Interface) error {
	list, err := c.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{}) // in the order of their names
	if err != nil {
		return err
	}
	for _, app := range list.Items {
		fmt.Println(app.Namespace, app.Name, app.Data["ready"])
	}
	return nil
}

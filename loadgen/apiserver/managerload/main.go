// Command managerload gives kube-controller-manager work, on the API server of KUBECONFIG:
//
//	managerload fill    what the controllers have to make pods and budgets of
//	managerload change  pods that become ready and cease to be, with deployments that
//	                    are scaled and jobs that begin among them, at a rate
//	managerload state   what the controllers made of it
//
// No scheduler and no kubelet run: pods are made ready here. With -autoscalers the custom
// resource of crds has to be there first.
package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/loadgen/apiserver"
)

var (
	namespaces = flag.Int("namespaces", 1, "how many namespaces")
	apps       = flag.Int("apps", 50, "how many deployments in each")
	sets       = flag.Int("sets", 0, "how many stateful sets in each, with a service each")
	replicas   = flag.Int("replicas", 10, "how many pods of each")
	budgets    = flag.Bool("budgets", true, "give each deployment a PodDisruptionBudget")
	scalers    = flag.Bool("autoscalers", false, "give each deployment a HorizontalPodAutoscaler once its pods are ready")
	changes    = flag.Int("changes", 2000, "how many changes")
	rate       = flag.Float64("rate", 100, "how many a second")
	scale      = flag.Int("scale", 0, "each how many changes a deployment is scaled; 0: never")
	jobs       = flag.Int("jobs", 0, "each how many changes a job begins; 0: never")
)

const (
	atOnce   = 16    // requests under way
	appLabel = "app" // of pods
	scaled   = "scaled"
)

func main() {
	apiserver.Load(map[string]apiserver.Step{"fill": fill, "change": change, "state": state})
}

func namespaceOf(n int) string { return fmt.Sprintf("team-%d", n) }

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{appLabel: name, "tier": "backend"}}
}

func template(name string) corev1.PodTemplateSpec {
	meta := named(name)
	meta.Name = ""
	return corev1.PodTemplateSpec{ObjectMeta: meta, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "server", Image: "registry.example/server:1", Args: []string{"--port=8080"}}},
	}}
}

func fill(ctx context.Context, c kubernetes.Interface) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	do := func(create func() error) { g.Go(create) }
	for n := range *namespaces {
		ns := namespaceOf(n)
		if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		for a := range *apps {
			name := fmt.Sprintf("app-%d", a)
			do(func() error { return deploy(ctx, c, ns, name, *replicas) })
			if !*budgets {
				continue
			}
			do(func() error {
				_, err := c.PolicyV1().PodDisruptionBudgets(ns).Create(ctx, &policyv1.PodDisruptionBudget{
					ObjectMeta: named(name),
					Spec:       policyv1.PodDisruptionBudgetSpec{Selector: selector(name), MaxUnavailable: ptr.To(intstr.FromInt32(1))},
				}, metav1.CreateOptions{})
				return err
			})
		}
		for s := range *sets {
			name := fmt.Sprintf("set-%d", s)
			do(func() error { return stateful(ctx, c, ns, name) })
		}
		do(func() error { return deploy(ctx, c, ns, scaled, 1) })
	}
	return g.Wait()
}

func selector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: name}}
}

func deploy(ctx context.Context, c kubernetes.Interface, ns, name string, replicas int) error {
	_, err := c.AppsV1().Deployments(ns).Create(ctx, &appsv1.Deployment{
		ObjectMeta: named(name),
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To(int32(replicas)), Selector: selector(name), Template: template(name)},
	}, metav1.CreateOptions{})
	return err
}

func stateful(ctx context.Context, c kubernetes.Interface, ns, name string) error {
	if _, err := c.CoreV1().Services(ns).Create(ctx, &corev1.Service{
		ObjectMeta: named(name),
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{appLabel: name}, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := c.AppsV1().StatefulSets(ns).Create(ctx, &appsv1.StatefulSet{
		ObjectMeta: named(name),
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(int32(*replicas)), Selector: selector(name), Template: template(name), ServiceName: name,
			PodManagementPolicy: appsv1.ParallelPodManagement,
		},
	}, metav1.CreateOptions{})
	return err
}

func change(ctx context.Context, c kubernetes.Interface) error {
	pods, err := podsOf(ctx, c)
	if err != nil {
		return err
	}
	if !*scalers {
		return changeAll(ctx, c, pods)
	}
	if err := report(ctx, c, pods); err != nil {
		return err
	}
	if err := changeAll(ctx, c, pods); err != nil {
		return err
	}
	return autoscaled(ctx, c)
}

// changeAll makes pods ready in turns, an app's next to each other's, and not ready the next time.
func changeAll(ctx context.Context, c kubernetes.Interface, pods []corev1.Pod) error {
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
		ns := namespaceOf(i % *namespaces)
		switch {
		case *scalers && i >= len(pods) && i < len(pods)+*namespaces**apps:
			name := fmt.Sprintf("app-%d", (i-len(pods)) / *namespaces)
			g.Go(func() error { return autoscale(ctx, c, ns, name) })
		case *scale > 0 && i%*scale == 1:
			g.Go(func() error { return grow(ctx, c, ns, 1 + i / *scale % 10) })
		case *jobs > 0 && i%*jobs == 2:
			g.Go(func() error { return begin(ctx, c, ns, fmt.Sprintf("job-%d", i)) })
		default:
			x := pods[i%len(pods)].DeepCopy()
			g.Go(func() error { return ready(ctx, c, x, i/len(pods)%2 == 0) })
		}
	}
	return g.Wait()
}

// podsOf lists the pods whose number stays, the first of each app before the second of any.
func podsOf(ctx context.Context, c kubernetes.Interface) ([]corev1.Pod, error) {
	list, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: appLabel + "!=" + scaled + ",tier"})
	if err != nil {
		return nil, err
	}
	if found, want := len(list.Items), *namespaces*(*apps+*sets)**replicas; found != want {
		return nil, fmt.Errorf("found %d pods, expected the controllers to have made %d", found, want)
	}
	turn, of := map[string]int{}, map[string]int{}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for _, x := range list.Items {
		app := x.Namespace + "/" + x.Labels[appLabel]
		turn[string(x.UID)] = of[app]
		of[app]++
	}
	slices.SortStableFunc(list.Items, func(a, b corev1.Pod) int {
		if d := turn[string(a.UID)] - turn[string(b.UID)]; d != 0 {
			return d
		}
		return strings.Compare(a.Namespace+a.Labels[appLabel], b.Namespace+b.Labels[appLabel])
	})
	return list.Items, nil
}

func ready(ctx context.Context, c kubernetes.Interface, x *corev1.Pod, is bool) error {
	x.ResourceVersion = "" // whatever it is by now
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	x.Status.Phase = corev1.PodRunning
	x.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	_, err := c.CoreV1().Pods(x.Namespace).UpdateStatus(ctx, x, metav1.UpdateOptions{})
	return err
}

func grow(ctx context.Context, c kubernetes.Interface, ns string, replicas int) error {
	x, err := c.AppsV1().Deployments(ns).GetScale(ctx, scaled, metav1.GetOptions{})
	if err != nil {
		return err
	}
	x.ResourceVersion, x.Spec.Replicas = "", int32(replicas)
	_, err = c.AppsV1().Deployments(ns).UpdateScale(ctx, scaled, x, metav1.UpdateOptions{})
	return err
}

func begin(ctx context.Context, c kubernetes.Interface, ns, name string) error {
	pod := template(name)
	pod.Labels = nil // not among those that become ready
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err := c.BatchV1().Jobs(ns).Create(ctx, &batchv1.Job{ObjectMeta: named(name), Spec: batchv1.JobSpec{Template: pod}}, metav1.CreateOptions{})
	return err
}

// state prints what the controllers have counted.
func state(ctx context.Context, c kubernetes.Interface) error {
	deployments, err := c.AppsV1().Deployments("").List(ctx, metav1.ListOptions{}) // in the order of their names
	if err != nil {
		return err
	}
	for _, x := range deployments.Items {
		fmt.Println("deployment", x.Namespace, x.Name, x.Status.Replicas, x.Status.ReadyReplicas)
	}
	stateful, err := c.AppsV1().StatefulSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, x := range stateful.Items {
		fmt.Println("stateful set", x.Namespace, x.Name, x.Status.Replicas, x.Status.ReadyReplicas)
	}
	disruptions, err := c.PolicyV1().PodDisruptionBudgets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, x := range disruptions.Items {
		fmt.Println("budget", x.Namespace, x.Name, x.Status.ExpectedPods, x.Status.CurrentHealthy, x.Status.DisruptionsAllowed)
	}
	autoscalers, err := c.AutoscalingV2().HorizontalPodAutoscalers("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, x := range autoscalers.Items {
		fmt.Println("autoscaler", x.Namespace, x.Name, x.Status.CurrentReplicas, x.Status.DesiredReplicas)
	}
	begun, err := c.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, x := range begun.Items {
		fmt.Println("job", x.Namespace, x.Name, x.Status.Active)
	}
	return nil
}

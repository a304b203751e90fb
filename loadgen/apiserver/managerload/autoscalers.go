package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"

	"golang.org/x/sync/errgroup"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// memory is what each pod uses and what its autoscaler aims at, so that nothing is scaled.
const memory = "100Mi"

// report says what pods use, as metrics-server would: in objects of the custom resource
// of crds, since no server is there to aggregate.
func report(ctx context.Context, c kubernetes.Interface, pods []corev1.Pod) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, x := range pods {
		g.Go(func() error {
			text, err := json.Marshal(map[string]any{
				"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics",
				"metadata":  metav1.ObjectMeta{Name: x.Name, Namespace: x.Namespace, Labels: x.Labels},
				"timestamp": metav1.Now(), "window": "30s",
				"containers": []any{map[string]any{"name": x.Spec.Containers[0].Name, "usage": map[string]string{"memory": memory}}},
			})
			if err != nil {
				return err
			}
			err = c.CoreV1().RESTClient().Post().AbsPath(path.Join("/apis/metrics.k8s.io/v1beta1/namespaces", x.Namespace, "pods")).
				SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").Body(text).Do(ctx).Error()
			if err != nil {
				return fmt.Errorf("the metrics of pods, a custom resource that crds installs: %w", err)
			}
			return nil
		})
	}
	return g.Wait()
}

// autoscale gives a deployment an autoscaler, which lists the deployment's pods again and again.
func autoscale(ctx context.Context, c kubernetes.Interface, ns, name string) error {
	quantity := resource.MustParse(memory)
	_, err := c.AutoscalingV2().HorizontalPodAutoscalers(ns).Create(ctx, &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: named(name),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
			MinReplicas:    ptr.To(int32(1)), MaxReplicas: int32(2 * *replicas),
			Metrics: []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType,
				Resource: &autoscalingv2.ResourceMetricSource{
					Name:   corev1.ResourceMemory,
					Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &quantity},
				},
			}},
		},
	}, metav1.CreateOptions{})
	return err
}

// autoscaled waits until every autoscaler has counted its pods.
func autoscaled(ctx context.Context, c kubernetes.Interface) error {
	for {
		list, err := c.AutoscalingV2().HorizontalPodAutoscalers("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		waiting := 0
		for _, x := range list.Items {
			if x.Status.CurrentReplicas != int32(*replicas) || len(x.Status.CurrentMetrics) == 0 {
				waiting++
			}
		}
		if waiting == 0 {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d of %d autoscalers have not counted their pods: %w", waiting, len(list.Items), ctx.Err())
		}
	}
}

package loadgen

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A customModel makes custom objects as a dynamic informer holds them. A change
// is one of the status.
type customModel struct {
	*stamp
	*population
}

func (m *customModel) meta(meta *metav1.ObjectMeta, e entity) {
	meta.Name = "widget-" + nameSuffix(e.birth)
	meta.Namespace = m.namespace(int(e.group) % m.spec.Namespaces)
}

func (m *customModel) create(meta metav1.ObjectMeta, _ uint32, e entity, payload string) Object {
	now := m.now.text
	metadata := map[string]any{
		"name": meta.Name, "namespace": meta.Namespace, "uid": string(meta.UID), "resourceVersion": meta.ResourceVersion,
		"creationTimestamp": now, "generation": int64(1),
		"labels": map[string]any{"app.kubernetes.io/name": appName(int(e.group)), "app.kubernetes.io/managed-by": "widget-operator"},
	}
	if m.spec.ManagedFields {
		metadata["managedFields"] = []any{
			m.managed("deploy-bot", now, "", map[string]any{"f:spec": map[string]any{"f:payload": map[string]any{}, "f:replicas": map[string]any{}}}),
			m.managed("widget-operator", now, "status", widgetStatusFields),
		}
	}
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": customType.APIVersion, "kind": customType.Kind, "metadata": metadata,
		"spec": map[string]any{"replicas": int64(3), "payload": payload},
	}}
	o.Object["status"] = m.status(1, now)
	return o
}

var widgetStatusFields = map[string]any{"f:status": map[string]any{
	"f:conditions": map[string]any{}, "f:observedGeneration": map[string]any{}, "f:updates": map[string]any{},
}}

func (m *customModel) managed(manager, now, subresource string, fields map[string]any) map[string]any {
	entry := map[string]any{
		"manager": manager, "operation": "Update", "apiVersion": customType.APIVersion,
		"time": now, "fieldsType": "FieldsV1", "fieldsV1": fields,
	}
	if subresource != "" {
		entry["subresource"] = subresource
	}
	return entry
}

func (m *customModel) status(updates int64, now string) map[string]any {
	ready := "True"
	if updates%2 == 0 {
		ready = "False"
	}
	return map[string]any{
		"observedGeneration": int64(1), "updates": updates,
		"conditions": []any{map[string]any{
			"type": "Ready", "status": ready, "reason": "Reconciled", "lastTransitionTime": now,
		}},
	}
}

func (m *customModel) renew(old Object, _ draw) Object {
	was := old.(*unstructured.Unstructured).Object
	o := maps.Clone(was)
	now := m.now.text
	metadata := maps.Clone(was["metadata"].(map[string]any))
	if m.spec.ManagedFields {
		fields := metadata["managedFields"].([]any)
		metadata["managedFields"] = []any{fields[0], m.managed("widget-operator", now, "status", widgetStatusFields)}
	}
	o["metadata"] = metadata
	o["status"] = m.status(was["status"].(map[string]any)["updates"].(int64)+1, now)
	return &unstructured.Unstructured{Object: o}
}

package loadgen

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A template is one revision of a deployment: what all its pods share. Pods
// are modelled on those that a kube-apiserver v1.36 sends: 6.5 KB serialized,
// 41% of it managedFields.
type template struct {
	revision   uint32
	image      string
	meta       metav1.ObjectMeta // as created, without what is a pod's own
	volumes    []corev1.Volume
	containers []corev1.Container
	bound      [zones]map[string]string // labels of pods on the nodes of a zone, nil until there are some
	created    *metav1.FieldsV1         // managedFields of the replica set controller
}

var components = []string{"api", "worker", "web", "cache", "search", "gateway", "scheduler", "indexer"}

// newTemplate makes the given revision of a deployment.
func (m *podMaker) newTemplate(group int, revision uint32, created *moment) *template {
	random := newRandom(m.seed, m.hash(uint64(group)<<32|uint64(revision)))
	namespace := m.namespace(group % m.spec.Namespaces)
	app := appName(group)
	version := "1." + strconv.Itoa(int(revision)+1) + ".0"
	hash := suffix(random.Uint64()>>24, 10)
	replicaSet := app + "-" + hash
	t := &template{revision: revision, image: "registry.example.com/" + namespace + "/" + app + ":" + version}
	labels := map[string]string{
		"app.kubernetes.io/name":    app,
		"app.kubernetes.io/part-of": namespace,
		"app.kubernetes.io/version": version,
		"pod-template-hash":         hash,
	}
	owner := newUID(random.Uint64(), random.Uint64())
	t.meta = metav1.ObjectMeta{
		GenerateName: replicaSet + "-",
		Namespace:    namespace,
		Generation:   1,
		Labels:       labels,
		Annotations: map[string]string{
			"deploy-bot.example.com/restartedAt": created.text,
			"prometheus.io/port":                 "9090",
			"prometheus.io/scrape":               "true",
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: replicaSet, UID: owner,
			Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}
	t.fillSpec(app, "kube-api-access-"+suffix(random.Uint64()>>24, 5))
	if m.spec.ManagedFields {
		t.created = ownedFields(createdFields, owner)
	}
	return t
}

// labels are those of a pod on a node of that zone.
func (t *template) labels(zone uint32) map[string]string {
	if t.bound[zone] == nil {
		labels := maps.Clone(t.meta.Labels)
		labels["topology.kubernetes.io/region"] = "region-1"
		labels["topology.kubernetes.io/zone"] = zoneName(int(zone))
		t.bound[zone] = labels
	}
	return t.bound[zone]
}

// fillSpec makes what is not the same in all pods' specs.
func (t *template) fillSpec(app, token string) {
	t.volumes = cloned(commonPodSpec.Volumes)
	t.volumes[1].Name = token
	t.containers = cloned(commonPodSpec.Containers)
	c := &t.containers[0]
	c.Image = t.image
	c.Env = cloned(c.Env)
	c.Env[3].Value = app
	c.VolumeMounts = cloned(c.VolumeMounts)
	c.VolumeMounts[1].Name = token
}

// cloned is a copy without room behind it.
func cloned[T any](all []T) []T { return slices.Clip(slices.Clone(all)) }

// commonPodSpec is what the specs of all pods share.
var commonPodSpec = newPodSpec()

func newPodSpec() corev1.PodSpec {
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}
	}
	probe := func(path string, period int32) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}},
			TimeoutSeconds: 1, PeriodSeconds: period, SuccessThreshold: 1, FailureThreshold: 3,
		}
	}
	toleration := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))}
	}
	return corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				DefaultMode: new(int32(420)),
				Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{
						LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
						Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
					}},
					{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
						{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
					}}},
				},
			}}},
		},
		Containers: []corev1.Container{{
			Name: "app",
			Ports: []corev1.ContainerPort{
				{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP},
				{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP},
			},
			Env: []corev1.EnvVar{
				{Name: "POD_NAME", ValueFrom: field("metadata.name")},
				{Name: "POD_IP", ValueFrom: field("status.podIP")},
				{Name: "LOG_LEVEL", Value: "info"},
				{Name: "SERVICE_NAME"},
			},
			Resources: corev1.ResourceRequirements{
				Limits:   corev1.ResourceList{corev1.ResourceMemory: quantity("256Mi")},
				Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("100m"), corev1.ResourceMemory: quantity("128Mi")},
			},
			VolumeMounts: []corev1.VolumeMount{
				{Name: "tmp", MountPath: "/var/cache/app"},
				{ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"},
			},
			LivenessProbe:            probe("/livez", 10),
			ReadinessProbe:           probe("/readyz", 5),
			TerminationMessagePath:   corev1.TerminationMessagePathDefault,
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			ImagePullPolicy:          corev1.PullIfNotPresent,
		}},
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(30)),
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            "default",
		DeprecatedServiceAccount:      "default",
		SecurityContext:               &corev1.PodSecurityContext{},
		SchedulerName:                 corev1.DefaultSchedulerName,
		Tolerations:                   []corev1.Toleration{toleration(corev1.TaintNodeNotReady), toleration(corev1.TaintNodeUnreachable)},
		Priority:                      new(int32(0)),
		EnableServiceLinks:            new(true),
		PreemptionPolicy:              new(corev1.PreemptLowerPriority),
	}
}

// quantity parses a constant. Its text is cached at once: a Quantity caches it
// on first use, which would be a write to an object that is shared.
func quantity(s string) resource.Quantity {
	q := resource.MustParse(s)
	_ = q.String()
	return q
}

package anonymize

import (
	"reflect"
	"strings"
	"sync"

	"k8s.io/client-go/kubernetes/scheme"
)

// nameMaps are the fields whose keys are names that users choose.
var nameMaps = []string{"labels", "annotations", "matchLabels", "nodeSelector", "selector", "data", "binaryData", "stringData",
	"parameters", "volumeAttributes", "attributes"}

// amountMaps are the fields whose values are quantities by resource name.
var amountMaps = []string{"limits", "requests", "capacity", "allocatable", "allocatedResources", "hard", "used", "overhead", "default",
	"defaultRequest", "max", "min", "maxLimitRequestRatio"}

// words are what Kubernetes itself says: they tell nothing about a cluster.
var words = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`
		true false matchLabels matchExpressions True False Unknown None Always Never IfNotPresent OnFailure Default ClusterFirst ClusterFirstWithHostNet
		Pending Running Succeeded Failed Active Terminating Bound Available Released Lost Terminated
		Ready Initialized ContainersReady PodScheduled PodReadyToStartContainers DisruptionTarget PodResizePending PodResizeInProgress
		MemoryPressure DiskPressure PIDPressure NetworkUnavailable Progressing ReplicaFailure Complete Suspended SuccessCriteriaMet FailureTarget
		KubeletReady KubeletHasSufficientMemory KubeletHasNoDiskPressure KubeletHasSufficientPID RouteCreated
		NewReplicaSetAvailable MinimumReplicasAvailable MinimumReplicasUnavailable ReplicaSetUpdated NewReplicaSetCreated FoundNewReplicaSet
		PodCompleted Completed Error OOMKilled CrashLoopBackOff ImagePullBackOff ErrImagePull ContainerCreating PodInitializing Unschedulable
		Normal Warning Scheduled Pulling Pulled Created Started Killing BackOff FailedScheduling SuccessfulCreate SuccessfulDelete ScalingReplicaSet
		BestEffort Burstable Guaranteed PreferNoSchedule NoSchedule NoExecute Exists Equal In NotIn DoesNotExist Gt Lt
		RollingUpdate Recreate OnDelete OrderedReady Parallel Allow Forbid Replace NonIndexed Indexed Foreground Background Orphan
		ClusterIP NodePort LoadBalancer ExternalName Cluster Local ClientIP SingleStack PreferDualStack RequireDualStack IPv4 IPv6 FQDN
		TCP UDP SCTP HTTP HTTPS File FallbackToLogsOnError ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod Filesystem Block Retain Delete Recycle
		WaitForFirstConsumer Immediate Directory DirectoryOrCreate FileOrCreate Socket ServiceAccount User Group PreemptLowerPriority
		Apply Update FieldsV1 Hostname InternalIP ExternalIP InternalDNS ExternalDNS Resource ContainerResource Pods Object External Utilization AverageValue Value
		Honor Ignore DoNotSchedule ScheduleAnyway RuntimeDefault Unconfined Localhost Opaque Memory Disabled NotRequired RestartContainer
		default kube-system kube-public kube-node-lease kubernetes
		kube-controller-manager kube-scheduler kube-apiserver kubelet kubectl default-scheduler
		cpu memory storage ephemeral-storage pods services secrets configmaps hugepages-1Gi hugepages-2Mi
		kubernetes.io/hostname kubernetes.io/os kubernetes.io/arch kubernetes.io/service-name kubernetes.io/metadata.name
		topology.kubernetes.io/zone topology.kubernetes.io/region node.kubernetes.io/instance-type
		node.kubernetes.io/not-ready node.kubernetes.io/unreachable node.kubernetes.io/unschedulable node.kubernetes.io/memory-pressure
		node.kubernetes.io/disk-pressure node.kubernetes.io/pid-pressure node.kubernetes.io/network-unavailable
		node-role.kubernetes.io/control-plane kubernetes.io/serviceaccount beta.kubernetes.io/os beta.kubernetes.io/arch
		endpointslice.kubernetes.io/managed-by endpointslice-controller.k8s.io node.alpha.kubernetes.io/ttl
		volumes.kubernetes.io/controller-managed-attach-detach
		app.kubernetes.io/name app.kubernetes.io/instance app.kubernetes.io/version app.kubernetes.io/component app.kubernetes.io/part-of app.kubernetes.io/managed-by
		pod-template-hash controller-revision-hash pod-template-generation statefulset.kubernetes.io/pod-name batch.kubernetes.io/job-name
		deployment.kubernetes.io/revision deployment.kubernetes.io/desired-replicas deployment.kubernetes.io/max-replicas
		kubectl.kubernetes.io/last-applied-configuration kubectl.kubernetes.io/restartedAt
		/dev/termination-log linux windows amd64 arm64`) {
		all[word] = true
	}
	return all
}()

// fields are the names of the fields of all types that client-go has.
var fields = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{".": true}
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				all[name] = true
			}
			visit(f.Type)
		}
	}
	for _, t := range scheme.Scheme.AllKnownTypes() {
		visit(t)
	}
	return all
})

// kinds and groups are those of client-go.
var (
	kinds = sync.OnceValue(func() map[string]bool {
		all := map[string]bool{"PartialObjectMetadata": true}
		for gvk := range scheme.Scheme.AllKnownTypes() {
			all[gvk.Kind] = true
		}
		return all
	})
	groups = sync.OnceValue(func() map[string]bool {
		all := map[string]bool{"meta.k8s.io": true}
		for gvk := range scheme.Scheme.AllKnownTypes() {
			all[gvk.Group] = true
		}
		return all
	})
)

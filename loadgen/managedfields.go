package loadgen

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Who owns which field, as the controllers and the kubelet leave it.
const (
	createdFields = `{"f:metadata":{"f:annotations":{".":{},"f:deploy-bot.example.com/restartedAt":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},` +
		`"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{},"f:app.kubernetes.io/version":{},"f:pod-template-hash":{}},` +
		`"f:ownerReferences":{".":{},"k:{\"uid\":\"OWNER\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},` +
		`"f:env":{".":{},"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"POD_IP\"}":{".":{},"f:name":{},"f:valueFrom":{".":{},"f:fieldRef":{}}},` +
		`"k:{\"name\":\"POD_NAME\"}":{".":{},"f:name":{},"f:valueFrom":{".":{},"f:fieldRef":{}}},"k:{\"name\":\"SERVICE_NAME\"}":{".":{},"f:name":{},"f:value":{}}},` +
		`"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},` +
		`"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},"f:name":{},"f:ports":{".":{},` +
		`"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}},` +
		`"k:{\"containerPort\":9090,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},` +
		`"f:readinessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},` +
		`"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},` +
		`"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{},` +
		`"f:volumeMounts":{".":{},"k:{\"mountPath\":\"/var/cache/app\"}":{".":{},"f:mountPath":{},"f:name":{}}}}},` +
		`"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},` +
		`"f:terminationGracePeriodSeconds":{},"f:tolerations":{},"f:volumes":{".":{},"k:{\"name\":\"tmp\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}`

	// The slot holds a pod network; OWNER is an owner's UID.
	nodeSpecFields = `{"f:metadata":{"f:annotations":{"f:node.alpha.kubernetes.io/ttl":{}}},"f:spec":{"f:podCIDR":{},"f:podCIDRs":{".":{},"v:\"%s\"":{}}}}`

	leaseFields = `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"OWNER\"}":{}}},"f:spec":{"f:holderIdentity":{},"f:leaseDurationSeconds":{},"f:renewTime":{}}}`

	sliceFields = `{"f:addressType":{},"f:endpoints":{},"f:metadata":{"f:annotations":{".":{},"f:endpoints.kubernetes.io/last-change-trigger-time":{}},` +
		`"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{},` +
		`"f:endpointslice.kubernetes.io/managed-by":{},"f:kubernetes.io/service-name":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"OWNER\"}":{}}},"f:ports":{}}`
)

var (
	nodeLabelFields = metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{".":{},"f:volumes.kubernetes.io/controller-managed-attach-detach":{}},` +
		`"f:labels":{".":{},"f:beta.kubernetes.io/arch":{},"f:beta.kubernetes.io/os":{},"f:kubernetes.io/arch":{},"f:kubernetes.io/hostname":{},"f:kubernetes.io/os":{},` +
		`"f:node.kubernetes.io/instance-type":{},"f:topology.kubernetes.io/region":{},"f:topology.kubernetes.io/zone":{}}},"f:spec":{"f:providerID":{}}}`)

	nodeStatusFields = metav1.NewFieldsV1(`{"f:status":{"f:addresses":{},"f:allocatable":{".":{},"f:cpu":{},"f:ephemeral-storage":{},"f:memory":{},"f:pods":{}},` +
		`"f:capacity":{".":{},"f:cpu":{},"f:ephemeral-storage":{},"f:memory":{},"f:pods":{}},"f:conditions":{".":{},` +
		conditionFields("DiskPressure") + "," + conditionFields("MemoryPressure") + "," + conditionFields("NetworkUnavailable") + "," +
		conditionFields("PIDPressure") + "," + conditionFields("Ready") + `},"f:images":{},"f:nodeInfo":{}}}`)
)

func conditionFields(kind string) string {
	const fields = `{".":{},"f:lastHeartbeatTime":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}`
	return `"k:{\"type\":\"` + kind + `\"}":` + fields
}

const podStatusFields = `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},` +
	`"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},` +
	`"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},` +
	`"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"11.0.0.1\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`

// What the kubelet owns of a pod's status, with an address and before it has
// one. All pods share the text: it names one address for all.
var (
	statusFields     = metav1.NewFieldsV1(podStatusFields)
	statusFieldsNoIP = metav1.NewFieldsV1(strings.Replace(podStatusFields, `"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"11.0.0.1\"}":{".":{},"f:ip":{}}},`, "", 1))
)

// ownedFields are fields with the owner's UID in its place.
func ownedFields(fields string, owner types.UID) *metav1.FieldsV1 {
	before, after, _ := strings.Cut(fields, "OWNER")
	return metav1.NewFieldsV1(before + string(owner) + after)
}

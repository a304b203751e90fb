package election

import (
	"reflect"
	"unsafe"

	"k8s.io/client-go/tools/leaderelection"
)

// silent is the metric of a program that wants none.
type silent struct{}

func (silent) On(string)                {}
func (silent) Off(string)               {}
func (silent) SlowpathExercised(string) {}

// metricOf is the metric of what the program gave leaderelection.SetProvider, as
// controller-runtime does, and tells it that nobody leads. client-go alone can read
// that, but a candidate of its own, which never runs, has it. It is silent without a
// provider, and should a version of client-go keep the metric elsewhere.
func metricOf(config leaderelection.LeaderElectionConfig) leaderelection.LeaderMetric {
	theirs, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		return silent{}
	}
	metrics := reflect.ValueOf(theirs).Elem().FieldByName("metrics")
	for metrics.Kind() == reflect.Interface || metrics.Kind() == reflect.Pointer {
		metrics = metrics.Elem()
	}
	if metrics.Kind() != reflect.Struct || !metrics.CanAddr() {
		return silent{}
	}
	field := metrics.FieldByName("leader")
	if !field.IsValid() || field.Type() != reflect.TypeFor[leaderelection.LeaderMetric]() || field.IsNil() {
		return silent{}
	}
	return *(*leaderelection.LeaderMetric)(unsafe.Pointer(field.UnsafeAddr()))
}

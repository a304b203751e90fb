package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Every encoding says all of a list.
func TestEncodedListsAreWhole(t *testing.T) {
	for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR} {
		s, err := newEncodedServer(20, media, 1)
		require.NoError(t, err)
		want, err := s.server.List(metav1.ListOptions{})
		require.NoError(t, err)
		got, err := s.List(metav1.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, want.(*corev1.PodList).Items, got.(*corev1.PodList).Items, media)
	}
	_, err := newEncodedServer(1, "text/plain", 1)
	assert.EqualError(t, err, "client-go has no serializer for text/plain")
}

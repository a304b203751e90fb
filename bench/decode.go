package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/impl"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// codecs are client-go's with CBOR, which it has behind a feature gate.
var codecs = serializer.NewCodecFactory(scheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))

// informerDecodeQuestions are starts from a list as it comes over the network, in the
// encodings of the API server. The load alone decodes, too: its share is how much of a
// start that is.
func informerDecodeQuestions(seed uint64) (all []informerQuestion) {
	const n = 10_000
	for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR} {
		name := map[string]string{runtime.ContentTypeJSON: "json", runtime.ContentTypeProtobuf: "protobuf", runtime.ContentTypeCBOR: "cbor"}[media]
		all = append(all, informerQuestion{
			name: fmt.Sprintf("op=decode/encoding=%s/n=%s", name, human(n)), unit: cpuTime, null: newListingNull,
			summary: "an informer starts with a list in " + name + ", decoding included",
			run:     func(b *testing.B, v informerVariant) { startEncoded(b, v, n, media, seed) },
		})
	}
	return all
}

// An encodedServer lists what its bytes say, and has no events.
type encodedServer struct {
	*server
	body    []byte
	decoder runtime.Decoder
}

func newEncodedServer(n int, media string, seed uint64) (*encodedServer, error) {
	s := newServer(n, seed)
	list, err := s.List(metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	info, known := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media)
	if !known {
		return nil, fmt.Errorf("client-go has no serializer for %s", media)
	}
	body, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), list)
	return &encodedServer{s, body, codecs.DecoderToVersion(info.Serializer, corev1.SchemeGroupVersion)}, err
}

func (s *encodedServer) List(metav1.ListOptions) (runtime.Object, error) {
	return runtime.Decode(s.decoder, s.body)
}

// IsWatchListSemanticsUnSupported has reflectors list.
func (s *encodedServer) IsWatchListSemanticsUnSupported() bool { return true }

func startEncoded(b *testing.B, v informerVariant, n int, media string, seed uint64) {
	s, err := newEncodedServer(n, media, seed)
	if err != nil {
		b.Fatal(err)
	}
	measured(b, n, true, func() {
		informer, stop := launch(b, s, v, []func(any){func(any) {}})
		if got := len(informer.GetStore().ListKeys()); got != n {
			b.Errorf("%d objects stored, expected %d", got, n)
		}
		stop()
	})
}

// A listingNull decodes a list and drops it.
type listingNull struct{ cache.SharedIndexInformer }

func newListingNull(source cache.ListerWatcher, example runtime.Object, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	list, err := cache.ToListerWatcherWithContext(source).ListWithContext(context.Background(), metav1.ListOptions{})
	if err != nil {
		panic(err) // the case's own list
	}
	return listingNull{newNullInformer(len(list.(*corev1.PodList).Items))(source, example, o)}
}

var _ impl.NewInformer = newListingNull

func (listingNull) RunWithContext(ctx context.Context) { <-ctx.Done() }

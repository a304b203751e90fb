package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// TestManifests asks the server whether it would accept what the project tells
// people to apply, unknown fields being errors.
func TestManifests(t *testing.T) {
	const folder = "../../../scripts/kubernetes"
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("there is no folder %s", folder)
	}
	server := serve(t)
	cluster := newCluster(t, server.Kubeconfig(), nil)
	groups, err := restmapper.GetAPIGroupResources(connectTo(t, server.Kubeconfig()).Discovery())
	require.NoError(t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)

	applied := 0
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		for _, document := range documents(t, path) {
			if document.GroupVersionKind().Group == "kustomize.config.k8s.io" {
				continue // kustomize's own, no API has it
			}
			require.NoError(t, dryRun(t.Context(), cluster.client, mapper, document),
				"%s: %s %s", path, document.GetKind(), document.GetName())
			applied++
		}
		return nil
	}))
	require.Positive(t, applied, "documents in %s", folder)
	t.Logf("%d documents are accepted", applied)
}

// documents reads a file of YAML documents.
func documents(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []*unstructured.Unstructured
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err, path)
		document := &unstructured.Unstructured{}
		require.NoError(t, yaml.UnmarshalStrict(text, &document.Object), path)
		if len(document.Object) > 0 { // only comments
			all = append(all, document)
		}
	}
}

// dryRun applies a document without keeping it. The namespace that it names is
// made for it.
func dryRun(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, document *unstructured.Unstructured) error {
	version := document.GroupVersionKind()
	mapping, err := mapper.RESTMapping(version.GroupKind(), version.Version)
	if err != nil {
		return err
	}
	namespace := ""
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if namespace = document.GetNamespace(); namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		made := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}
		_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).
			Create(ctx, made, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	body, err := document.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = client.Resource(mapping.Resource).Namespace(namespace).Patch(ctx, document.GetName(), types.ApplyPatchType, body,
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "informerbench", FieldValidation: metav1.FieldValidationStrict})
	return err
}

// Package kubernetes holds no code: its test reads the manifests as strictly as
// an API server does.
package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// A kustomization is what of kustomize's schema the base uses.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace"`
	Resources  []string `json:"resources"`
	Images     []struct {
		Name    string `json:"name"`
		NewName string `json:"newName"`
		NewTag  string `json:"newTag"`
	} `json:"images"`
}

// decode refuses fields that the type does not have, and duplicates.
func decode[T any](t *testing.T, name, kind string) T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("base", name))
	require.NoError(t, err)
	require.False(t, bytes.Contains(b, []byte("\n---")), "%s: one document a file", name)
	var object T
	require.NoError(t, yaml.UnmarshalStrict(b, &object), name)
	var head struct{ APIVersion, Kind string }
	require.NoError(t, yaml.Unmarshal(b, &head))
	require.Equal(t, kind, head.APIVersion+" "+head.Kind, name)
	return object
}

func TestManifests(t *testing.T) {
	k := decode[kustomization](t, "kustomization.yaml", "kustomize.config.k8s.io/v1beta1 Kustomization")
	files, err := os.ReadDir("base")
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		if f.Name() != "kustomization.yaml" {
			names = append(names, f.Name())
		}
	}
	slices.Sort(k.Resources)
	assert.Equal(t, names, k.Resources, "every file is in it")

	namespace := decode[corev1.Namespace](t, "namespace.yaml", "v1 Namespace")
	assert.Equal(t, k.Namespace, namespace.Name)
	claim := decode[corev1.PersistentVolumeClaim](t, "results.yaml", "v1 PersistentVolumeClaim")
	run := decode[batchv1.Job](t, "run.yaml", "batch/v1 Job")
	merge := decode[batchv1.Job](t, "merge.yaml", "batch/v1 Job")

	assert.Equal(t, batchv1.IndexedCompletion, *run.Spec.CompletionMode)
	assert.Equal(t, *run.Spec.Completions, *run.Spec.Parallelism)
	assert.Contains(t, run.Spec.Template.Spec.Containers[0].Args, fmt.Sprintf("--shard=%d", *run.Spec.Completions))
	assert.True(t, *merge.Spec.Suspend, "there is nothing to merge yet")
	for _, job := range []batchv1.Job{run, merge} {
		pod := job.Spec.Template.Spec
		require.Len(t, pod.Containers, 1)
		c := pod.Containers[0]
		assert.Equal(t, c.Resources.Requests, c.Resources.Limits, "%s: Guaranteed", job.Name)
		assert.Zero(t, c.Resources.Limits.Cpu().MilliValue()%1000, "%s: whole processors", job.Name)
		assert.False(t, c.Resources.Limits.Memory().IsZero())
		assert.Equal(t, k.Images[0].Name, c.Image)
		assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
		assert.Equal(t, claim.Name, pod.Volumes[0].PersistentVolumeClaim.ClaimName)
		mounts := map[string]string{}
		for _, m := range c.VolumeMounts {
			mounts[m.Name] = m.MountPath
		}
		for _, v := range pod.Volumes {
			assert.NotEmpty(t, mounts[v.Name], "%s: %s is mounted", job.Name, v.Name)
		}
		out := slices.IndexFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--out="+mounts["results"]+"/") })
		assert.GreaterOrEqual(t, out, 0, "%s writes into the volume", job.Name)
	}
}

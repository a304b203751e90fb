package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informerbench/informerbench/loadgen/apiserver"
)

// connectTo returns a client for a kubeconfig, which is closed when the test ends.
func connectTo(t *testing.T, kubeconfig string) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	set, err := kubernetes.NewForConfigAndClient(config, client)
	require.NoError(t, err)
	return set
}

func TestServer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Setenv("TMPDIR", t.TempDir())
	t.Run("life", func(t *testing.T) {
		began := time.Now()
		server, err := apiserver.Start(t.Context(), apiserver.Options{Binary: *binary})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, server.Stop()) })
		t.Logf("ready after %.1f s", time.Since(began).Seconds())

		admin := connectTo(t, server.Kubeconfig())
		version, err := admin.Discovery().ServerVersion()
		require.NoError(t, err)
		require.Equal(t, "v1.37.2", version.GitVersion)

		kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"key": "value"}}
		kept, err = admin.CoreV1().ConfigMaps("default").Create(t.Context(), kept, metav1.CreateOptions{})
		require.NoError(t, err)
		first, err := server.Compact()
		require.NoError(t, err)
		require.Positive(t, first)

		began = time.Now()
		ended, url := server.Done(), server.URL()
		require.NoError(t, server.Restart(t.Context()))
		t.Logf("restarted in %.1f s", time.Since(began).Seconds())
		<-ended
		require.Equal(t, url, server.URL())
		got, err := admin.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, kept, got)
		second, err := server.Compact()
		require.NoError(t, err)
		require.GreaterOrEqual(t, second, first)

		began = time.Now()
		require.NoError(t, server.Stop())
		t.Logf("stopped in %.1f s", time.Since(began).Seconds())
		<-server.Done()
		_, err = server.Compact()
		require.ErrorContains(t, err, "the API server has ended")
		require.NoError(t, server.Stop(), "a second time")
	})
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left, "files left behind")
}

func TestKubeconfigFor(t *testing.T) {
	server := serve(t)
	admin := connectTo(t, server.Kubeconfig())
	allowWatching(t, admin, "watchers", kind{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("pods")})
	kubeconfig, err := server.KubeconfigFor("jane", "watchers")
	require.NoError(t, err)
	jane := connectTo(t, kubeconfig)

	_, err = jane.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, err = jane.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), err)
	require.ErrorContains(t, err, `User "jane"`)
	err = jane.CoreV1().Pods("default").Delete(t.Context(), "any", metav1.DeleteOptions{})
	require.True(t, apierrors.IsForbidden(err), err)
}

// allowWatching lets a group list and watch some kinds, no more.
func allowWatching(t *testing.T, admin kubernetes.Interface, group string, kinds ...kind) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: group}}
	for _, k := range kinds {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{
			APIGroups: []string{k.Group}, Resources: []string{k.Resource}, Verbs: []string{"list", "watch"}})
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: group},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: group},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}}}
	_, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	require.NoError(t, err)
	// The authorizer reads roles through informers of its own.
	err = poll(t, func(ctx context.Context) (bool, error) {
		client := admin.AuthorizationV1().SubjectAccessReviews()
		review, err := client.Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: "any", Groups: []string{group},
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "watch", Group: kinds[0].Group, Resource: kinds[0].Resource}},
		}, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed, err
	})
	require.NoError(t, err)
}

func TestStartFails(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Setenv("TMPDIR", t.TempDir())
	for name, c := range map[string]struct {
		options  apiserver.Options
		expected string
	}{
		"no program":   {apiserver.Options{Binary: "/none/such"}, "/none/such: no such file"},
		"unknown flag": {apiserver.Options{Binary: *binary, Flags: []string{"--none-such"}}, "unknown flag: --none-such"},
		"bad value":    {apiserver.Options{Binary: *binary, Flags: []string{"--service-cluster-ip-range=x"}}, "service-cluster-ip-range"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := apiserver.Start(t.Context(), c.options)
			require.ErrorContains(t, err, c.expected)
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := apiserver.Start(ctx, apiserver.Options{Binary: *binary})
		require.ErrorIs(t, err, context.Canceled)
	})
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left, "files left behind")
}

// TestParentDies kills a process that runs a server: the server ends too.
func TestParentDies(t *testing.T) {
	if os.Getenv("E2E_PARENT") != "" {
		server := serve(t)
		fmt.Println("serving", server.Address())
		<-server.Done()
		return
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestParentDies$", "-binary="+*binary)
	parent.Env = append(os.Environ(), "E2E_PARENT=1", "TMPDIR="+t.TempDir())
	output, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	var address string
	for lines := bufio.NewScanner(output); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "serving ")
	}
	require.NotEmpty(t, address)
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	require.NoError(t, c.Close())

	require.NoError(t, parent.Process.Kill())
	_, err = io.Copy(io.Discard, output)
	require.NoError(t, err)
	require.Error(t, parent.Wait(), "it was killed")
	err = poll(t, func(context.Context) (bool, error) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return false, c.Close()
		}
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		return true, nil
	})
	require.NoError(t, err, "the server lives on")
}

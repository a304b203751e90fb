package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// An identity is what a server shows to clients and knows them by. Its files are
// in the server's folder.
type identity struct {
	folder    string
	authority *authority
	token     string // of a member of system:masters
}

func newIdentity(folder string) (*identity, error) {
	id := &identity{folder: folder, token: rand.Text()}
	var err error
	if id.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	certificate, key, err := id.authority.issueServer()
	if err != nil {
		return nil, err
	}
	_, signer, err := newKey()
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{
		authorityFile:      id.authority.pem(),
		certificateFile:    certificate,
		keyFile:            key,
		serviceAccountFile: signer,
		tokensFile:         fmt.Appendf(nil, "%s,admin,admin,system:masters\n", id.token),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return id, nil
}

const (
	authorityFile      = "ca.crt"
	certificateFile    = "server.crt"
	keyFile            = "server.key"
	serviceAccountFile = "service-account.key"
	tokensFile         = "tokens.csv"
)

// flags returns kube-apiserver's flags; relative paths are of the server's folder,
// in which it runs.
func (id *identity) flags() []string {
	return []string{
		"--tls-cert-file=" + certificateFile,
		"--tls-private-key-file=" + keyFile,
		"--client-ca-file=" + authorityFile,
		"--token-auth-file=" + tokensFile,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + serviceAccountFile,
		"--service-account-signing-key-file=" + serviceAccountFile,
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/16",
		// Without controllers no namespace has a default service account.
		"--disable-admission-plugins=ServiceAccount",
		// Only Compact compacts.
		"--etcd-compaction-interval=0",
		"--endpoint-reconciler-type=none", // it refuses to advertise a loopback address
	}
}

// An authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, _, err := newKey()
	if err != nil {
		return nil, err
	}
	a := &authority{key: key}
	template := newTemplate("informerbench")
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

func (a *authority) pem() []byte { return encode("CERTIFICATE", a.certificate.Raw) }

// issueServer returns a loopback server's certificate and key in PEM.
func (a *authority) issueServer() (certificate, key []byte, err error) {
	template := newTemplate("kube-apiserver")
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{"localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	return a.issue(template)
}

// issueClient returns a user's certificate and key in PEM.
func (a *authority) issueClient(name string, groups []string) (certificate, key []byte, err error) {
	template := newTemplate(name)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	template.Subject.Organization = groups
	return a.issue(template)
}

func (a *authority) issue(template *x509.Certificate) (certificate, key []byte, err error) {
	private, key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	return encode("CERTIFICATE", der), key, nil
}

func newTemplate(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

// newKey returns a new key, and the same in PEM.
func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

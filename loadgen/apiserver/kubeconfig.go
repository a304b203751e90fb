package apiserver

import (
	"encoding/json"
	"os"
)

// A user is the part of a kubeconfig that says who asks.
type user struct {
	Token       string `json:"token,omitempty"`
	Certificate []byte `json:"client-certificate-data,omitempty"`
	Key         []byte `json:"client-key-data,omitempty"`
}

// writeKubeconfig writes a kubeconfig as JSON, which every reader of YAML accepts.
func (s *Server) writeKubeconfig(path string, u user) error {
	type named struct {
		Name    string `json:"name"`
		Cluster any    `json:"cluster,omitempty"`
		User    any    `json:"user,omitempty"`
		Context any    `json:"context,omitempty"`
	}
	const name = "informerbench"
	content, err := json.MarshalIndent(map[string]any{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters": []named{{Name: name, Cluster: map[string]any{
			"server":                     s.URL(),
			"certificate-authority-data": s.identity.authority.pem(),
		}}},
		"users":           []named{{Name: name, User: u}},
		"contexts":        []named{{Name: name, Context: map[string]string{"cluster": name, "user": name}}},
		"current-context": name,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o600)
}

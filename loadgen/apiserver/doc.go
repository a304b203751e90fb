// Package apiserver runs a real Kubernetes API server on this machine's loopback
// interface, for tests and for load that no fake can stand in for. It needs no
// cluster, no container and no network.
//
//  1. Build compiles folder controlplane: etcd and kube-apiserver in one program.
//     The first time takes minutes, afterwards a second or two.
//  2. Start makes a certificate authority, a server certificate, a token and a
//     kubeconfig in a temporary folder, runs the program as a child process, and
//     returns when the server is ready to serve.
//  3. Tests make trouble: Compact discards etcd's history so that old watches
//     expire, Restart loses what the server had cached, and a Proxy in front cuts
//     or refuses connections.
//  4. Stop ends the child and removes the folder. If the parent dies instead, the
//     child notices and ends by itself.
//
// There are no controllers: nothing schedules pods, collects garbage or fills in
// service accounts. Pods are accepted and stay as they were written.
//
// Command serve runs a server until Ctrl-C, for kubectl and for benchrun trace
// record. Folder e2e drives every informer of the catalogue against one.
package apiserver

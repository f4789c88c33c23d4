// Package kubernetes holds the manifests that run three nodes, and the test that reads
// them strictly, as the types of the Kubernetes API have them.
package kubernetes

// Package compose holds three nodes as containers of an image built from scratch, and
// the test that runs them on a Docker engine: make deploy-test. The test is behind the
// build tag `docker`; docs/deploy.md says how the containers are used.
package compose

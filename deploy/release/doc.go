// Command release makes the archives of a release: for each platform one tar.gz with the
// program, its manual, completions, documents and what deploys it, one list of what it is
// built from (CycloneDX), and SHA256SUMS over all. Every byte follows from the source, its
// version and the Go that builds it: two machines make the same files.
//
//	go run ./deploy/release --version v1.2.3 --out dist
package main

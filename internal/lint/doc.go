// Package lint holds the house rules that a program can check: which way
// imports point, what the kernel may not do, how long files and functions get,
// what is linked into the binary.
//
// It is run by its own tests, over the whole tree, as part of `make test`. Load
// reads a tree; each rule is a function from a Tree to Findings; TestTree
// asserts that there are none. Each rule has a fixture under testdata (a tree
// of its own, which the go command ignores) that breaks it, so that a rule
// cannot go blind without a test noticing.
//
// What is allowed stands in policy.go as literal tables, with reasons. The two
// lists that are measured, testdata/sizes.txt and testdata/deps.txt, are
// rewritten by
//
//	UPDATE=1 go test ./internal/lint
//
// which never raises a size: a function that outgrows its recorded length is
// split, or given a larger number by hand, where a reviewer sees it.
//
// Three comments answer a finding where it is not one. They stand on the line
// in question or on the one above, and need a reason:
//
//	//lint:ordered the keys are sorted below
//	//lint:text our own error type
//	//lint:readonly callers get a pointer to spare a copy
//
// The package never changes source files, and nothing imports it.
package lint

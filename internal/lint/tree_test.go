package lint

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root      = "../.."
	sizesFile = "testdata/sizes.txt"
	depsFile  = "testdata/deps.txt"
)

func update() bool { return os.Getenv("UPDATE") == "1" }

func assertNone(t *testing.T, findings []Finding) {
	t.Helper()
	for _, finding := range findings {
		t.Error(finding)
	}
}

// TestTree holds the whole tree to the rules that look at its files one by one.
func TestTree(t *testing.T) {
	tree, err := Load(root)
	require.NoError(t, err)
	require.NotEmpty(t, tree.Files)
	assertNone(t, tree.Broken)
	t.Run("imports", func(t *testing.T) { assertNone(t, Imports(tree)) })
	t.Run("docs", func(t *testing.T) { assertNone(t, Docs(tree)) })
	t.Run("goroutines", func(t *testing.T) { assertNone(t, Goroutines(tree)) })
	t.Run("skips", func(t *testing.T) { assertNone(t, Skips(tree)) })
	t.Run("fuzzing", func(t *testing.T) {
		findings, err := Fuzzing(tree)
		require.NoError(t, err)
		assertNone(t, findings)
	})
	t.Run("sizes", func(t *testing.T) {
		text, err := os.ReadFile(sizesFile)
		require.NoError(t, err)
		recorded, err := ParseSizes(string(text))
		require.NoError(t, err)
		measured := Sizes(tree)
		if update() {
			recorded = Shrink(recorded, measured)
			require.NoError(t, os.WriteFile(sizesFile, []byte(FormatSizes(recorded)), 0o644))
		}
		assertNone(t, Ratchet(recorded, measured))
	})
}

func TestWordsInTree(t *testing.T) {
	findings, err := Words(root)
	require.NoError(t, err)
	assertNone(t, findings)
}

// EV-1, EV-6, EV-10, EV-13: the kernel is a function of its input.
func TestKernelIsPure(t *testing.T) {
	findings, err := Purity(root)
	require.NoError(t, err)
	assertNone(t, findings)
}

// A new dependency shows up in a diff of testdata/deps.txt.
func TestDependencies(t *testing.T) {
	linked, err := Dependencies(root, "./cmd/omni")
	require.NoError(t, err)
	if update() {
		require.NoError(t, os.WriteFile(depsFile, []byte(linked), 0o644))
	}
	recorded, err := os.ReadFile(depsFile)
	require.NoError(t, err)
	assert.Empty(t, Difference(string(recorded), linked),
		"what is linked into omni has changed; if that is meant, run UPDATE=1 go test ./internal/lint and commit %s", filepath.Base(depsFile))
}

// The policy's tables must not outlive what they speak of.
func TestPolicyIsUsed(t *testing.T) {
	tree, err := Load(root)
	require.NoError(t, err)
	dirs := make(map[string]bool)
	edges := make(map[[2]string]bool)     // between kernel modules
	testEdges := make(map[[2]string]bool) // between directories
	for _, file := range tree.Files {
		dirs[file.Dir] = true
		for _, spec := range file.AST.Imports {
			target, ours := tree.own(spec)
			switch {
			case !ours:
			case file.Test:
				testEdges[[2]string{file.Dir, target}] = true
			case topOf(file.Dir) == "kernel":
				edges[[2]string{kernelModule(file.Dir), kernelModule(target)}] = true
			}
		}
	}
	for exception := range testExceptions {
		assert.True(t, testEdges[exception], "the exception for tests of %v is no longer needed", exception)
	}
	for exception := range kernelExceptions {
		assert.True(t, edges[exception], "the exception for %v is no longer needed", exception)
	}
	for exception := range unsupervised {
		others := maps.Clone(unsupervised)
		delete(others, exception)
		assert.NotEmpty(t, goroutinesBut(tree, others), "the exception for %s is no longer needed", exception)
	}
	for name := range vocabulary {
		assert.True(t, dirs["kernel/"+name], "there is no kernel/%s", name)
	}
	for name := range composers {
		assert.True(t, dirs[filepath.ToSlash(filepath.Join("kernel", name))], "there is no kernel/%s", name)
	}
	for name := range impurePackages {
		assert.True(t, dirs[name], "there is no %s", name)
	}
}

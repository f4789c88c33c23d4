package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// unpack writes a fixture's files into a directory and returns it.
func unpack(t *testing.T, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	root := t.TempDir()
	for _, file := range archive.Files {
		path := filepath.Join(root, filepath.FromSlash(file.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, file.Data, 0o644))
	}
	return root
}

func load(t *testing.T, fixture string) *Tree {
	t.Helper()
	tree, err := Load(unpack(t, fixture))
	require.NoError(t, err)
	return tree
}

func lines(findings []Finding) []string {
	all := make([]string, len(findings))
	for i, finding := range findings {
		all[i] = finding.String()
	}
	return all
}

func TestImportsFixture(t *testing.T) {
	assert.Equal(t, []string{
		"cluster/cluster.go:4: cluster must not import cmd/omni: everything is wired in cmd, nothing is taken from it",
		"cluster/cluster.go:6: cluster must not import internal/lint: nothing depends on the house rules",
		"cluster/cluster.go:7: cluster must not import jepsen/check: the product does not know its fault tests",
		"cluster/cluster_test.go:5: cluster must not import transport/server: imports point from transport to cluster",
		"fsm/fsm.go:5: fsm must not import transport: imports point from transport to fsm",
		"helpers/helpers.go: the top level is fixed; helpers is not part of it",
		"jepsen/sim/kernels/kernels.go:4: jepsen/sim/kernels must not import cluster: only API types and the client are seen from outside",
		"jepsen/traffic/traffic.go:5: jepsen/traffic must not import kernel: only API types and the client are seen from outside",
		"kernel/flows/flows.go:4: kernel/flows must not import kernel: the root uses its modules, not the other way round",
		"kernel/kernel.go:4: kernel must not import fsm: imports point from fsm to kernel",
		"kernel/kernel.go:5: kernel must not import internal/clock: the kernel stands alone",
		"kernel/kernel_test.go:4: kernel must not import cluster: imports point from cluster to kernel",
		"kernel/lifecycle/lifecycle.go:5: kernel/lifecycle must not import kernel/execution: modules do not see each other; what takes several is a flow",
		"kernel/logaudit/logaudit.go:5: kernel/logaudit must not import kernel/flows: a second opinion does not ask the first one",
		"kernel/value/value.go:5: kernel/value must not import kernel/identity: a vocabulary package uses vocabulary only",
		"transport/client/client.go:5: transport/client must not import kernel/flows: only API types and the client are seen from outside",
		"transport/client/client.go:6: transport/client must not import transport/server: only API types and the client are seen from outside",
	}, lines(Imports(load(t, "imports.txtar"))))
}

func TestDocsFixture(t *testing.T) {
	tree := load(t, "docs.txtar")
	assert.Equal(t, []string{
		"code/doc.go:4: doc.go holds the package comment and no code",
		"none: has no doc.go: what is it for, who calls it in which order, what does it never do",
		"twice/twice.go:1: the package comment belongs into doc.go",
		"wrong/doc.go: must begin with a comment that begins: Package wrong ",
	}, lines(Docs(tree)))
	assert.Equal(t, []string{"torn/torn.go: does not parse"}, lines(tree.Broken))
}

func TestSkipsFixture(t *testing.T) {
	assert.Equal(t, []string{
		"a/a_test.go:7: a test runs or it is not there: no skipping",
		"a/a_test.go:12: a test runs or it is not there: no skipping",
	}, lines(Skips(load(t, "skips.txtar"))))
}

// NO-1
func TestGoroutinesFixture(t *testing.T) {
	text := ": a panic in this goroutine would end the process: start it with supervise.Group or supervise.Begin"
	assert.Equal(t, []string{
		"cluster/a.go:8" + text, "cluster/a.go:12" + text, "cluster/a.go:17" + text, "cluster/a.go:18" + text, "cluster/a.go:19" + text,
		"cluster/a.go:22" + text, "cluster/a.go:25" + text, "cmd/omni/server.go:3" + text, "transport/raftstream/deep/a.go:3" + text,
	}, lines(Goroutines(load(t, "goroutines.txtar"))))
}

var wantComment = regexp.MustCompile(`// want (.*)$`)

func TestPurityFixture(t *testing.T) {
	root := unpack(t, "purity.txtar")
	findings, err := Purity(root)
	require.NoError(t, err)
	found := make(map[string][]string) // file:line
	compiles := true
	for _, finding := range findings {
		if strings.HasPrefix(finding.Text, "does not compile") {
			assert.Equal(t, "kernel/broken", finding.File, finding.Text)
			compiles = false
			continue
		}
		place := fmt.Sprintf("%s:%d", finding.File, finding.Line)
		found[place] = append(found[place], finding.Text)
	}
	assert.False(t, compiles, "what does not compile must be told")
	tree, err := Load(root)
	require.NoError(t, err)
	for _, file := range tree.Files {
		text, err := os.ReadFile(filepath.Join(root, file.Path))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			place := fmt.Sprintf("%s:%d", file.Path, i+1)
			if want := wantComment.FindStringSubmatch(line); want != nil {
				assert.Len(t, found[place], 1, "%s: %s", place, line)
				assert.Contains(t, strings.Join(found[place], "; "), want[1], place)
				delete(found, place)
			}
		}
	}
	assert.Empty(t, found, "findings that no comment wants")
}

func TestSizes(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	body := func(n int) string { return strings.Repeat("\t_ = 1\n", n) }
	write("go.mod", "module fixture.test/omni\n")
	write("a.go", "package a\n\nfunc short() {\n"+body(68)+"}\n\nfunc (r *row[T]) long() {\n"+body(69)+"}\n\nfunc plain() {\n"+body(100)+"}\n")
	write("a_test.go", "package a\n\nfunc TestTable() {\n"+body(200)+"}\n")
	write("b_test.go", "package a\n"+strings.Repeat("\n", 500))
	write("c_test.go", "package a\n"+strings.Repeat("\n", 499))
	tree, err := Load(root)
	require.NoError(t, err)
	measured := Sizes(tree)
	assert.Equal(t, map[string]int{"a.go:row.long": 71, "a.go:plain": 102, "b_test.go": 501}, measured)

	text := FormatSizes(measured)
	parsed, err := ParseSizes(text)
	require.NoError(t, err)
	assert.Equal(t, measured, parsed)
	assert.Contains(t, text, "\n102 a.go:plain\n71 a.go:row.long\n501 b_test.go\n")
	for _, bad := range []string{"x y", "12", "12 "} {
		_, err := ParseSizes(bad)
		require.Error(t, err, bad)
	}
}

func TestRatchet(t *testing.T) {
	recorded := map[string]int{"same": 80, "grown": 80, "shrunk": 80, "gone": 80}
	measured := map[string]int{"same": 80, "grown": 81, "shrunk": 79, "new": 71}
	assert.Equal(t, []string{
		"gone: is no longer too long: record that with UPDATE=1",
		"grown: has grown from 80 to 81 lines: split it",
		"new: 71 lines are too many: split it",
		"shrunk: has shrunk from 80 to 79 lines: record that with UPDATE=1",
	}, lines(Ratchet(recorded, measured)))
	assert.Empty(t, Ratchet(measured, measured))
	assert.Equal(t, map[string]int{"same": 80, "grown": 80, "shrunk": 79}, Shrink(recorded, measured), "an update only goes down")
}

func TestWords(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	mark := "TO" + "DO"
	write("a.md", "fine\n"+mark+": later\n")
	write("deep/Makefile", "x:\n\t# not "+"implemented yet\n")
	write("deep/path.yaml", "dir: /ho"+"me/someone/x\n")
	write("fine.go", "package todo // "+mark+"S and "+strings.ToLower(mark)+"\n")
	write("binary", "\x00"+mark)
	write(".git/config", mark)
	write("bin/omni", mark)
	findings, err := Words(root)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"a.md:2: unwanted: " + mark,
		"deep/Makefile:2: unwanted: not " + "implemented",
		"deep/path.yaml:1: unwanted: /ho" + "me/s",
	}, lines(findings))
}

func TestDependenciesFixture(t *testing.T) {
	linked, err := Dependencies(unpack(t, "deps.txtar"), "./cmd/omni")
	require.NoError(t, err)
	assert.Equal(t, "foreign.test/lib\n    foreign.test/lib\n    foreign.test/lib/zebra\n", linked)
	_, err = Dependencies(unpack(t, "deps.txtar"), "./cmd/none")
	require.ErrorContains(t, err, "go list ./cmd/none")
}

func TestDifference(t *testing.T) {
	assert.Equal(t, "- a/x\n- old.test/m\n+ new.test/m\n", Difference("b\nold.test/m\n    a/x\n", "new.test/m\nb\n"))
	assert.Empty(t, Difference("a\n", "a\n"))
}

func TestFuzzingFixture(t *testing.T) {
	findings, err := Fuzzing(load(t, "fuzzing.txtar"))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"cluster/tools/pigeon: must stand in docs/fuzzing.md: what it reads that others wrote, and the fuzz target for that",
		"docs/fuzzing.md: kernel/value.FuzzGone is no fuzz target of this tree",
		"kernel/value/value_test.go: kernel/value.FuzzMore must stand in docs/fuzzing.md, with what it reads and who sends that",
	}, lines(findings))
}

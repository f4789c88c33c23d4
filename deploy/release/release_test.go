package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// source is a module small enough to be built in a test: a program that does what a
// release asks of omni.
func source(t *testing.T, modified time.Time) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.org/small\n\ngo 1.26.0\n",
		"LICENSE": "free\n", "README.md": "# Small\n", "docs/a.md": "a\n", "docs/deep/b.md": "b\n", "deploy/compose/test": "#!/bin/sh\n",
		"cmd/omni/main.go": `package main

import "os"

var versionText, commitText, commitTimeText string

func main() {
	switch os.Args[1] {
	case "man":
		os.Mkdir(os.Args[2], 0o755)
		os.WriteFile(os.Args[2]+"/omni.1", []byte(versionText+commitText+commitTimeText), 0o644)
	case "completion":
		os.Stdout.WriteString(os.Args[2])
	case "panic":
		panic("where am I")
	}
}
`,
	} {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(name, modified, modified))
	}
	return dir
}

// The same source in two directories, of two times, gives the same files; another version
// gives others.
func TestReleasesAreReproducible(t *testing.T) {
	outputs := make([]map[string][]byte, 0, 3)
	for i, version := range []string{"v1.2.3", "v1.2.3", "v1.2.4"} {
		r := &release{
			source: source(t, time.Now().Add(time.Duration(-i)*time.Hour)), out: filepath.Join(t.TempDir(), "dist"),
			version: version, commit: "0123456789ab", time: "2026-01-02T03:04:05Z",
		}
		require.NoError(t, r.make(t.Context(), []string{runtime.GOOS + "/" + runtime.GOARCH}))
		outputs = append(outputs, filesIn(t, r.out))
	}
	require.Len(t, outputs[0], 3)
	for name, content := range outputs[0] {
		assert.True(t, bytes.Equal(content, outputs[1][name]), name)
	}
	assert.NotEqual(t, outputs[0]["SHA256SUMS"], outputs[2]["SHA256SUMS"])

	name := "omni-v1.2.3-" + runtime.GOOS + "-" + runtime.GOARCH
	assert.Equal(t, []string{
		"-rw-r--r-- LICENSE", "-rw-r--r-- README.md", "-rw-r--r-- completions/_omni", "-rw-r--r-- completions/omni.bash", "-rw-r--r-- completions/omni.fish",
		"-rwxr-xr-x deploy/compose/test", "-rw-r--r-- docs/a.md", "-rw-r--r-- docs/deep/b.md", "-rw-r--r-- man/man1/omni.1", "-rwxr-xr-x omni", "-rw-r--r-- omni.cdx.json",
	}, listed(t, name, outputs[0][name+".tar.gz"]))
	for line := range strings.Lines(string(outputs[0]["SHA256SUMS"])) {
		sum, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, line)
		want := sha256.Sum256(outputs[0][file])
		assert.Equal(t, hex.EncodeToString(want[:]), sum, file)
	}
}

func filesIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
	}
	return files
}

// listed gives what is in an archive, and demands that nothing of this machine is.
func listed(t *testing.T, top string, archive []byte) (names []string) {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	assert.True(t, zip.ModTime.IsZero())
	for files := tar.NewReader(zip); ; {
		h, err := files.Next()
		if err == io.EOF {
			return names
		}
		require.NoError(t, err)
		assert.Equal(t, made, h.ModTime.UTC(), h.Name)
		assert.Zero(t, h.Uid+h.Gid, h.Name)
		assert.Empty(t, h.Uname+h.Gname, h.Name)
		name, ok := strings.CutPrefix(h.Name, top+"/")
		require.True(t, ok, h.Name)
		names = append(names, h.FileInfo().Mode().String()+" "+name)
	}
}

// A program does not know where it was built.
func TestProgramsDoNotKnowTheirPlace(t *testing.T) {
	r := &release{source: source(t, time.Now()), version: "v1", commit: "c", time: "t"}
	program := filepath.Join(t.TempDir(), "omni")
	require.NoError(t, r.build(t.Context(), program, "", ""))
	content, err := os.ReadFile(program)
	require.NoError(t, err)
	assert.NotContains(t, string(content), r.source)
	said, err := exec.Command(program, "panic").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(said), "example.org/small/cmd/omni/main.go:15")
}

// The list of materials has what the program says of itself, what replaced something in
// its place, and reads back.
func TestMaterials(t *testing.T) {
	text, err := encode(listOf(&debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/small", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "example.org/a", Version: "v1.0.0", Sum: "h1:aaa="},
			{Path: "example.org/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/c", Version: "v2.0.0", Sum: "h1:ccc="}},
		},
	}, "v1.2.3"))
	require.NoError(t, err)
	var list cyclonedx.BOM
	require.NoError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&list))
	assert.Equal(t, "pkg:golang/example.org/small@v1.2.3", list.Metadata.Component.PackageURL)
	assert.Empty(t, list.SerialNumber+list.Metadata.Timestamp)
	var found []string
	for _, c := range *list.Components {
		found = append(found, c.PackageURL)
	}
	assert.Equal(t, []string{"pkg:golang/std@1.26.8", "pkg:golang/example.org/a@v1.0.0", "pkg:golang/example.org/c@v2.0.0"}, found)
	assert.Equal(t, found, *(*list.Dependencies)[0].Dependencies)
	assert.Equal(t, []cyclonedx.Property{{Name: "go:sum", Value: "h1:ccc="}}, *(*list.Components)[2].Properties)
}

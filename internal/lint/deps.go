package lint

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Dependencies lists what is linked into a command, as text for people to
// read in a diff: each foreign module, then its packages, indented. The
// standard library and this module are left out. The list is that of Linux on
// amd64 without cgo, wherever it is made.
func Dependencies(root, command string) (string, error) {
	list := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{$.ImportPath}}{{end}}{{end}}`, command)
	list.Dir = root
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list %s: %w: %s", command, err, stderr.String())
	}
	packages := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		if module, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			packages[module] = append(packages[module], name)
		}
	}
	var b strings.Builder
	for _, module := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintln(&b, module)
		for _, name := range slices.Sorted(slices.Values(packages[module])) {
			fmt.Fprintln(&b, "    "+name)
		}
	}
	return b.String(), nil
}

// Difference shows two texts' lines that are not in both, with - and + before
// them. Both are sorted lists, so their order says nothing.
func Difference(before, after string) string {
	var b strings.Builder
	was, is := lineSet(before), lineSet(after)
	for _, line := range slices.Sorted(maps.Keys(was)) {
		if !is[line] {
			fmt.Fprintln(&b, "- "+strings.TrimSpace(line))
		}
	}
	for _, line := range slices.Sorted(maps.Keys(is)) {
		if !was[line] {
			fmt.Fprintln(&b, "+ "+strings.TrimSpace(line))
		}
	}
	return b.String()
}

func lineSet(text string) map[string]bool {
	set := make(map[string]bool)
	for line := range strings.Lines(text) {
		set[strings.TrimSuffix(line, "\n")] = true
	}
	return set
}

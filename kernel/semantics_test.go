package kernel_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	sentencePattern = regexp.MustCompile(`(?m)^- \*\*([A-Z]{2}-\d+)\*\* `)
	numberPattern   = regexp.MustCompile(`\b(EV|LC|EX|ME|PE|TO|DE|FA|RU|NO|LO|CL|TL)-\d+\b`)
	namedPattern    = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")
	funcPattern     = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
)

// docs/semantics.md is kept true: its numbers are given once, the tests that it
// names are there (anywhere in the tree), every sentence about the kernel has one, and every number
// that a test of the kernel cites is on the page.
func TestSemanticsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/semantics.md")
	require.NoError(t, err)
	text := string(page)
	kernelPart, rest, found := strings.Cut(text, "\n## What the node adds\n")
	require.True(t, found)

	tests, _ := testsBelow(t, "..")
	_, cited := testsBelow(t, ".")
	for _, name := range namedPattern.FindAllStringSubmatch(text, -1) {
		assert.True(t, tests[name[1]], "%s is not there", name[1])
	}
	given := make(map[string]bool)
	starts := sentencePattern.FindAllStringSubmatchIndex(kernelPart, -1)
	for i, at := range starts {
		number := kernelPart[at[2]:at[3]]
		assert.False(t, given[number], "%s is given twice", number)
		given[number] = true
		end := len(kernelPart)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		assert.Regexp(t, namedPattern, kernelPart[at[0]:end], "%s names no test", number)
	}
	onPage := make(map[string]bool)
	for _, number := range numberPattern.FindAllString(rest, -1) {
		onPage[number] = true
	}
	for number := range given {
		onPage[number] = true
	}
	for number, file := range cited {
		assert.True(t, onPage[number], "%s cites %s, which is not on the page", file, number)
	}
}

// Every page in docs names only tests that are there.
func TestDocumentsNameTests(t *testing.T) {
	tests, _ := testsBelow(t, "..")
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, path := range pages {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, name := range namedPattern.FindAllStringSubmatch(string(page), -1) {
			assert.True(t, tests[name[1]], "%s: %s is not there", path, name[1])
		}
	}
}

// testsBelow lists the tests below a directory, and the numbers they cite with one
// file for each.
func testsBelow(t *testing.T, root string) (tests map[string]bool, cited map[string]string) {
	t.Helper()
	tests, cited = make(map[string]bool), make(map[string]string)
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, name := range funcPattern.FindAllStringSubmatch(string(source), -1) {
			tests[name[1]] = true
		}
		for _, number := range numberPattern.FindAllString(string(source), -1) {
			cited[number] = path
		}
		return err
	}))
	return tests, cited
}

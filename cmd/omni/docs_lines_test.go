package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

// Every command line in a document, an example or a command's help is one that omni
// takes: the command is there, and so are its flags. What it would do is for others.
func TestCommandLinesInDocumentsAreTaken(t *testing.T) {
	lines := 0
	for _, file := range documents(t) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for n, line := range commandLines(string(raw), filepath.Ext(file) == ".md") {
			lines++
			assert.NoError(t, taken(line), "%s, line %d: %s", file, n, line)
		}
	}
	require.Greater(t, lines, 60, "too few to be all")
	each(newRoot(&app{}), func(c *cobra.Command) {
		for _, line := range commandLines(c.Example, false) {
			assert.NoError(t, taken(line), "omni help %s: %s", c.CommandPath(), line)
		}
	})
}

// documents are the texts that people copy commands from.
func documents(t *testing.T) (files []string) {
	for _, dir := range []string{"../../docs", "../../examples"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch filepath.Ext(path) {
			case ".md", ".yaml", ".sh":
				files = append(files, path)
			}
			return err
		}))
	}
	more, err := filepath.Glob("../../*.md")
	require.NoError(t, err)
	more = append(more, "../../jepsen/README.md")
	return append(files, more...)
}

var (
	omniLine = regexp.MustCompile(`^[\s#$]*(?:[A-Z_]+=\S+ )*(?:\./bin/|bin/)?omni ([a-z].*)$`)
	elided   = regexp.MustCompile(`…|\.\.\.|\[|<`)
)

// commandLines are those of a text, by the number of their line; of Markdown only those
// in blocks of code.
func commandLines(text string, markdown bool) map[int]string {
	found, fenced := make(map[int]string), false
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line, at := lines[i], i
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if markdown && !fenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimSpace(lines[i])
		}
		for _, part := range strings.Split(line, "&&") {
			if m := omniLine.FindStringSubmatch(part); m != nil && !elided.MatchString(m[1]) {
				found[at+1] = m[1]
			}
		}
	}
	return found
}

// taken parses a command line as omni does, and runs nothing.
func taken(line string) error {
	for _, end := range []string{" || ", " | ", " > ", " < ", " 2>", "; ", "  #", " &", "   "} {
		line, _, _ = strings.Cut(line, end)
	}
	root := newRoot(&app{})
	c, rest, err := root.Find(words(line))
	if err != nil {
		return err
	}
	if !c.Runnable() || c == root {
		return tell.Usage("", "there is no such command")
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if help, _ := c.Flags().GetBool("help"); help {
		return nil
	}
	return c.ValidateArgs(c.Flags().Args())
}

// words divides a line as a shell does, with quotes.
func words(line string) (words []string) {
	var word strings.Builder
	var quote rune
	any := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, any = c, true
		case quote == 0 && c == ' ':
			if any {
				words = append(words, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(c)
			any = true
		}
	}
	if any {
		words = append(words, word.String())
	}
	return words
}

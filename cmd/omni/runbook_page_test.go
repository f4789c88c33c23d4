package main

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pagePart is what stands under one heading of a page: its blocks of code, in order.
type pagePart struct {
	heading string
	blocks  []pageBlock
}

type pageBlock struct {
	kind string // "sh": commands; "text": what the commands before it print
	text string
	line int // of the page, where it begins
}

// partsOf reads a page of docs/ by its headings.
func partsOf(t *testing.T, page string) (parts []pagePart) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/" + page)
	require.NoError(t, err)
	var block *pageBlock
	for n, line := range strings.Split(string(raw), "\n") {
		kind, fence := strings.CutPrefix(line, "```")
		switch {
		case block != nil && fence:
			block = nil
		case block != nil:
			block.text += line + "\n"
		case fence:
			last := &parts[len(parts)-1]
			last.blocks = append(last.blocks, pageBlock{kind: kind, line: n + 2})
			block = &last.blocks[len(last.blocks)-1]
		case strings.HasPrefix(line, "#"):
			parts = append(parts, pagePart{heading: strings.TrimLeft(line, "# ")})
		}
	}
	require.Nil(t, block, "a block that does not end")
	return parts
}

// hasAnchor tells whether a page has the heading that a link names.
func hasAnchor(parts []pagePart, anchor string) bool {
	return slices.ContainsFunc(parts, func(part pagePart) bool {
		kept := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(part.heading), "")
		return strings.ReplaceAll(kept, " ", "-") == anchor
	})
}

// The runbook's links lead somewhere.
func TestRunbookLinks(t *testing.T) {
	raw, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	links := regexp.MustCompile(`\]\(([a-z-]+\.md)?(?:#([a-z0-9-]+))?\)`).FindAllStringSubmatch(string(raw), -1)
	require.Greater(t, len(links), 4)
	require.Len(t, links, strings.Count(string(raw), "]("), "all of them")
	for _, link := range links {
		parts := partsOf(t, cmp.Or(link[1], "operations.md"))
		require.True(t, link[2] == "" || hasAnchor(parts, link[2]), link[0])
	}
}

// printed tells which line of a block of output is not in what was printed, in its
// place; empty when all are. … stands for anything, blanks for any number of them.
func printed(block, output string) (missing string) {
	rest := strings.Split(output, "\n")
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		words := strings.Fields(line)
		for i, word := range words {
			words[i] = strings.ReplaceAll(regexp.QuoteMeta(word), "…", ".*")
		}
		pattern := regexp.MustCompile(`^\s*` + strings.Join(words, `\s+`) + `\s*$`)
		at := 0
		for at < len(rest) && !pattern.MatchString(rest[at]) {
			at++
		}
		if at == len(rest) {
			return line
		}
		rest = rest[at+1:]
	}
	return ""
}

func TestPrinted(t *testing.T) {
	const output = "NODE  ROLE\nn1    leader    ok  7\nn2    follower  bad  9\n"
	require.Empty(t, printed("NODE ROLE\nn2 … 9\n", output))
	require.Empty(t, printed("n1 leader ok …\n\nn2 …\n", output))
	require.Equal(t, "n1 …", printed("n2 …\nn1 …\n", output), "in order")
	require.Equal(t, "n1 leader ok", printed("n1 leader ok\n", output), "whole lines")
}

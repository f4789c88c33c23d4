package lint

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// unwanted are patterns of words that have no place in the tree: marks of
// unfinished work, and paths of somebody's machine. Each is put together here
// from two parts, since this file is part of the tree.
var unwanted = []string{
	`\bTO` + `DO\b`, `\bFIX` + `ME\b`, `\bXX` + `X\b`, `\bHA` + `CK\b`, `\bnot (yet )?` + `implemented\b`,
	`/ho` + `me/\w`, `/Us` + `ers/\w`, `/ro` + `ot/\w`,
}

const maxTextBytes = 4 << 20

// Words looks for unwanted words in every text file below root, whatever its
// kind. Directories that hold nothing of ours are left out.
func Words(root string) ([]Finding, error) {
	pattern := regexp.MustCompile(strings.Join(unwanted, "|"))
	var findings []Finding
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == ".git" || base == "bin" || base == "vendor" {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		found, err := wordsIn(name, pattern)
		for i := range found {
			if rel, err := filepath.Rel(root, name); err == nil {
				found[i].File = filepath.ToSlash(rel)
			}
		}
		findings = append(findings, found...)
		return err
	})
	return inOrder(findings), err
}

func wordsIn(name string, pattern *regexp.Regexp) ([]Finding, error) {
	info, err := os.Stat(name)
	if err != nil || info.Size() > maxTextBytes {
		return nil, err
	}
	text, err := os.ReadFile(name)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return nil, err
	}
	if !pattern.Match(text) { // in one pass: nearly every file
		return nil, nil
	}
	var findings []Finding
	for i, line := range bytes.Split(text, []byte("\n")) {
		if word := pattern.Find(line); word != nil {
			findings = append(findings, Finding{File: name, Line: i + 1, Text: "unwanted: " + string(word)})
		}
	}
	return findings, nil
}

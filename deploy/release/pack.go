package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file of an archive. What it was on this machine beside its bytes, its time,
// its owner, its rights, does not count.
type entry struct {
	name    string // with slashes
	content []byte
	program bool
}

// under reads the files below a path, under another name. A path that is not there has
// none.
func under(from, as string) (files []entry, err error) {
	err = filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		files = append(files, entry{
			name: path.Join(as, filepath.ToSlash(rel)), content: content, program: bytes.HasPrefix(content, []byte("#!")),
		})
		return nil
	})
	if os.IsNotExist(err) {
		return nil, nil
	}
	return files, err
}

// made is when everything in an archive was made.
var made = time.Unix(0, 0).UTC()

// pack makes a tar.gz whose bytes follow from the names and contents.
func pack(top string, files []entry) ([]byte, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zip)
	for i, f := range files {
		if i > 0 && files[i-1].name == f.name {
			return nil, fmt.Errorf("%s is there twice", f.name)
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(top, f.name), Size: int64(len(f.content)), Mode: 0o644, ModTime: made, Format: tar.FormatUSTAR,
		}
		if f.program {
			header.Mode = 0o755
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeSums writes SHA256SUMS over all files of a directory, as sha256sum --check reads
// it.
func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

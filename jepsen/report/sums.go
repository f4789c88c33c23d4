package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const sumsFile = "SHA256SUMS"

// writeSums writes a sum for each file but the page, which can be drawn again.
func writeSums(dir string) error {
	return write(filepath.Join(dir, sumsFile), func(w *os.File) error {
		return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || filepath.Base(path) == filepath.Base(w.Name()) {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil || name == pageFile {
				return err
			}
			if strings.ContainsAny(name, "\n\r\\") {
				return fmt.Errorf("%q is no name that %s can have", name, sumsFile)
			}
			sum, err := sumOf(path)
			if err == nil {
				_, err = fmt.Fprintf(w, "%s  %s\n", sum, filepath.ToSlash(name))
			}
			return err
		})
	})
}

func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err = io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// verify compares every file with its sum. It returns false for a folder that has
// none: its run was interrupted.
func verify(dir string) (whole bool, err error) {
	list, err := os.Open(filepath.Join(dir, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer list.Close()
	var found []error
	lines := bufio.NewScanner(list)
	for number := 1; lines.Scan(); number++ {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || len(sum) != 2*sha256.Size || !filepath.IsLocal(name) {
			found = append(found, fmt.Errorf("%s: line %d is no sum and name", list.Name(), number))
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		switch is, err := sumOf(path); {
		case err != nil:
			found = append(found, err)
		case is != sum:
			found = append(found, fmt.Errorf("%s: it is not what was written: its SHA-256 is %s, not %s", path, is, sum))
		}
	}
	return true, errors.Join(append(found, lines.Err())...)
}

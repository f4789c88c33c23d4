package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TokenFileName is where, within the data directory, an administrator may keep a token
// for this cluster, for what omni dev asks the nodes and for commands with --data-dir.
const TokenFileName = "admin.token"

// Token reads the token that is kept in a cluster's data directory; empty when there is
// none.
func Token(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, TokenFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the dev cluster's token: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program builds omni with the tags that fault tests need, and more of them.
func program(ctx context.Context, dir string, tags ...string) (string, error) {
	module, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(module)))
	if _, err := os.Stat(filepath.Join(root, "cmd", "omni")); err != nil {
		return "", errors.New("there is no cmd/omni here: run it inside of the repository, or name a program with --omni")
	}
	omni := filepath.Join(dir, "omni")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", strings.Join(append(tags, "faultclock"), ","), "-o", omni, "./cmd/omni")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build omni: %w: %s", err, output)
	}
	return omni, nil
}

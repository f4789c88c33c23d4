package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

// platforms are those that a release is made for.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var r release
	targets := flag.String("platforms", platforms, "OS/ARCH, comma-separated")
	flag.StringVar(&r.source, "source", ".", "the module's directory")
	flag.StringVar(&r.out, "out", "dist", "directory that the files are put into")
	flag.StringVar(&r.version, "version", "", "such as v1.2.3; what git describe says when empty")
	flag.StringVar(&r.commit, "commit", "", "that the source is; git's when empty")
	flag.StringVar(&r.time, "commit-time", "", "when it was made, as 2026-01-02T15:04:05Z; git's when empty")
	flag.Parse()
	if err := r.make(ctx, strings.Split(*targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// release is what is made, and where.
type release struct {
	source, out           string
	version, commit, time string
}

func (r *release) make(ctx context.Context, targets []string) error {
	if err := r.describe(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "omni-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	common, err := r.common(ctx, work)
	if err != nil {
		return err
	}
	for _, target := range targets {
		system, arch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("%q is no OS/ARCH", target)
		}
		if err := r.platform(ctx, work, system, arch, common); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return writeSums(r.out)
}

// describe fills in what was not said, from git.
func (r *release) describe(ctx context.Context) error {
	for _, field := range []struct {
		value *string
		args  []string
	}{
		{&r.version, []string{"describe", "--tags", "--always", "--dirty"}},
		{&r.commit, []string{"rev-parse", "--short=12", "HEAD"}},
		{&r.time, []string{"show", "-s", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "HEAD"}},
	} {
		if *field.value != "" {
			continue
		}
		git := exec.CommandContext(ctx, "git", field.args...)
		git.Dir, git.Env = r.source, append(os.Environ(), "TZ=UTC")
		said, err := git.Output()
		if err != nil {
			return fmt.Errorf("git %s: %w: say --version, --commit and --commit-time", strings.Join(field.args, " "), err)
		}
		*field.value = strings.TrimSpace(string(said))
	}
	return nil
}

// common are the files that are the same on every platform: the documents, and what the
// program itself says of its commands.
func (r *release) common(ctx context.Context, work string) ([]entry, error) {
	var files []entry
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "docs", "examples", "deploy/compose", "deploy/systemd", "deploy/kubernetes"} {
		found, err := under(filepath.Join(r.source, name), name)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	omni := filepath.Join(work, "omni")
	if err := r.build(ctx, omni, "", ""); err != nil {
		return nil, err
	}
	manual := filepath.Join(work, "man1")
	if said, err := exec.CommandContext(ctx, omni, "man", manual).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("omni man: %w: %s", err, said)
	}
	pages, err := under(manual, "man/man1")
	if err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{"bash": "omni.bash", "zsh": "_omni", "fish": "omni.fish"} {
		script, err := exec.CommandContext(ctx, omni, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("omni completion %s: %w", shell, err)
		}
		files = append(files, entry{name: "completions/" + name, content: script})
	}
	return append(files, pages...), nil
}

// platform makes the archive of one platform, and the list of what is in its program.
func (r *release) platform(ctx context.Context, work, system, arch string, common []entry) error {
	binary := filepath.Join(work, system+"-"+arch)
	if err := r.build(ctx, binary, system, arch); err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	materials, err := r.materials(binary)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("omni-%s-%s-%s", r.version, system, arch)
	files := append([]entry{{name: "omni", content: content, program: true}, {name: "omni.cdx.json", content: materials}}, common...)
	archive, err := pack(name, files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+".cdx.json"), materials, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".tar.gz"), archive, 0o644)
}

// build builds the program so that nothing of this machine is in it. Empty is this
// machine's own platform.
func (r *release) build(ctx context.Context, to, system, arch string) error {
	stamp := fmt.Sprintf("-s -w -buildid= -X main.versionText=%s -X main.commitText=%s -X main.commitTimeText=%s", r.version, r.commit, r.time)
	goBuild := exec.CommandContext(ctx, cmp.Or(os.Getenv("GO"), "go"), "build", "-trimpath", "-buildvcs=false", "-ldflags", stamp, "-o", to, "./cmd/omni")
	goBuild.Dir = r.source
	goBuild.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0")
	if system != "" {
		goBuild.Env = append(goBuild.Env, "GOOS="+system, "GOARCH="+arch)
	}
	if said, err := goBuild.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, said)
	}
	return nil
}

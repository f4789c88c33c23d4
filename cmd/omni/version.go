package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

// versionText is set by release builds: -ldflags "-X main.versionText=v1.2.3".
var versionText = ""

// build says which program this is.
type build struct {
	Version string `json:"version"`          // "v1.2.3", or "dev"
	Commit  string `json:"commit,omitempty"` // of the source, with "+" when it was changed
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: versionText, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if b.Version == "" {
		b.Version = "dev"
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	changed := false
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value[:min(12, len(setting.Value))]
		case "vcs.modified":
			changed = setting.Value == "true"
		}
	}
	if changed && b.Commit != "" {
		b.Commit += "+"
	}
	return b
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which program this is",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			return a.tell.Data(b, func(p *tell.Page) {
				line := "omni " + b.Version
				if b.Commit != "" {
					line += " (" + b.Commit + ")"
				}
				p.Line("%s %s %s/%s", line, b.Go, b.OS, b.Arch)
			})
		},
	}
}

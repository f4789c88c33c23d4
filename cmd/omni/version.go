package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/config"
)

// Release builds say what they are made of, because they are built without a look
// at the repository: -ldflags "-X main.versionText=v1.2.3 …" (deploy/release).
var versionText, commitText, commitTimeText string

// build says which program this is.
type build struct {
	Version string `json:"version"`               // "v1.2.3", or "dev"
	Commit  string `json:"commit,omitempty"`      // of the source, with "+" when it was changed
	Time    string `json:"commit_time,omitempty"` // of the commit
	Changed bool   `json:"changed"`               // the source is not the commit's
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	// KernelVersion is the newest version of the kernel's behaviour that the program
	// knows (EV-9); it knows all from 1 on.
	KernelVersion uint32 `json:"kernel_version"`
}

func thisBuild() build {
	b := build{
		Version: versionText, Commit: commitText, Time: commitTimeText,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, KernelVersion: config.Version,
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	if info, ok := debug.ReadBuildInfo(); ok && b.Commit == "" {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Commit = setting.Value[:min(12, len(setting.Value))]
			case "vcs.time":
				b.Time = setting.Value
			case "vcs.modified":
				b.Changed = setting.Value == "true"
			}
		}
	}
	if b.Changed && b.Commit != "" {
		b.Commit += "+"
	}
	return b
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which program this is: version, commit, and which kernels it knows",
		Long: `Says which program this is: its version, the commit that it was built from, what
built it, and the newest version of the kernel's behaviour that it knows. A cluster
goes on to a newer one only when all of its nodes know it.`,
		Example: `  omni version
  omni version -o json | jq -r .commit`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			return a.tell.Data(b, func(p *tell.Page) {
				line := "omni " + b.Version
				if b.Commit != "" {
					line += " (" + b.Commit + ")"
				}
				p.Line("%s %s %s/%s, kernel versions 1 to %d", line, b.Go, b.OS, b.Arch, b.KernelVersion)
			})
		},
	}
}

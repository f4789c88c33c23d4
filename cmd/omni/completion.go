package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion " + strings.Join(shells, "|"),
		Short: "Print what makes a shell complete omni's commands and flags",
		Long: `Prints a script for your shell, which asks omni itself what can come next. For this
shell only, let it read the script; for every new one, put it where the shell looks.`,
		Example: `  source <(omni completion bash)
  omni completion bash > /etc/bash_completion.d/omni
  omni completion zsh > "${fpath[1]}/_omni"
  omni completion fish > ~/.config/fish/completions/omni.fish`,
		Args:      exactly("SHELL"),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), a.tell.Raw()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return tell.Usage("", "%q is no shell that omni knows: %s", args[0], strings.Join(shells, ", "))
		},
	}
}

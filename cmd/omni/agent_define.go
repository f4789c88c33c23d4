package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newAgentDefine(a *app) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "define -f FILE",
		Short: "Make an agent known; it does nothing yet",
		Example: `  omni agent define -f agent.yaml
  omni agent define -f - < agent.yaml`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			f, define, err := readAgent(file, c.InOrStdin())
			if err != nil {
				return err
			}
			client, err := a.connect()
			if err != nil {
				return err
			}
			defer client.Close()
			done, err := client.Define(c.Context(), define)
			if err != nil {
				return inFile(err, f, "")
			}
			return a.tell.Data(done, func(p *tell.Page) {
				show.Done(p, "defined", done)
			})
		},
	}
	addFileFlag(c, &file, "agent file, YAML or JSON; - is stdin")
	return c
}

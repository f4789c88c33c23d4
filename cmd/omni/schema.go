package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
)

// newSchemaCommand prints the JSON Schema of a kind of files, for editors.
func newSchemaCommand(a *app, document, file string) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of " + file + ", for editors",
		Long: `An editor that is given the schema completes fields, says what they mean and marks
what the reader would refuse, as one types. The same schema is docs/schemas/` + document + `.json.`,
		Example: "  omni " + document + " schema > " + document + ".schema.json",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.tell.Raw().Write(agentfile.Schema(document))
			return err
		},
	}
}

// newAgentSchema prints the schema of agent files, or of instructions.
func newAgentSchema(a *app) *cobra.Command {
	var instruction bool
	c := newSchemaCommand(a, "agent", "agent files")
	c.Flags().BoolVar(&instruction, "instruction", false, "of the file of omni agent submit instead")
	c.RunE = func(*cobra.Command, []string) error {
		document := "agent"
		if instruction {
			document = "instruction"
		}
		_, err := a.tell.Raw().Write(agentfile.Schema(document))
		return err
	}
	return c
}

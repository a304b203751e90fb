package app

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/reports/schema"
	"github.com/spf13/cobra"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema " + strings.Join(schema.Names(), "|"),
		Short: "Print the schema of a result file",
		Long: `Schema prints the JSON Schema (draft 2020-12) of a JSON file in a result directory,
or what the columns of stats.csv mean. Fields may be added within a schema version;
it grows when one changes its meaning or goes away.`,
		Example:   `  benchrun schema stats > stats.schema.json`,
		Args:      wantArgs(strings.Join(schema.Names(), "|")),
		ValidArgs: schema.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, ok := schema.Get(args[0])
			if !ok {
				return fmt.Errorf("unknown schema %q, expected one of %s", args[0], strings.Join(schema.Names(), ", "))
			}
			_, err := cmd.OutOrStdout().Write(b)
			return err
		},
	}
}

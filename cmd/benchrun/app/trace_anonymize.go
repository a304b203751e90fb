package app

import (
	"fmt"

	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/anonymize"
	"github.com/spf13/cobra"
)

func traceAnonymizeCommand() *cobra.Command {
	var in traceInput
	var path, keyFile string
	cmd := &cobra.Command{
		Use:   "anonymize RECORDING... --out FILE",
		Short: "Hide all names in recordings but keep sizes, timing and skew",
		Long: `Anonymize hides every name: of objects, namespaces, nodes, labels and their values,
annotations, images, users' settings, addresses, UIDs, kinds and groups that are
not Kubernetes' own. Each becomes another of the same length, the same one
everywhere, so that info says the same of the result to the byte. Times, numbers
and resource quantities stay.

With the same key the same name is hidden alike in several recordings. Without
--key-file the key is random and forgotten.`,
		Example: `  benchrun trace anonymize pods.json --out pods.ibt
  head -c 32 /dev/urandom | base64 > key
  benchrun trace anonymize monday.ibt --key-file key --out monday-hidden.ibt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if path == "" {
				return errNoOut
			}
			key, err := anonymize.NewKey()
			if keyFile != "" {
				key, err = anonymize.ReadKey(keyFile)
			}
			if err != nil {
				return fmt.Errorf("--key-file: %w", err)
			}
			a, err := anonymize.New(key)
			if err != nil {
				return err
			}
			return copyTraces(cmd, &in, args, path, formatOf(path), func(r *trace.Record) error { return a.Record(r) })
		},
	}
	in.addTo(cmd)
	cmd.Flags().StringVar(&path, "out", "", "the file to write: JSON lines if its name has .json in it, else the compact format")
	cmd.Flags().StringVar(&keyFile, "key-file", "", "a file with a secret of 16 bytes or more (default a random key)")
	return cmd
}

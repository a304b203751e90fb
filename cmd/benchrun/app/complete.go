package app

import (
	"slices"
	"strings"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/spf13/cobra"
)

// oneOf adds a flag that takes one of the values, by default the first.
func oneOf(cmd *cobra.Command, to *string, flag, what string, values ...string) {
	cmd.Flags().StringVar(to, flag, values[0], what+": "+strings.Join(values, ", "))
	complete(cmd, flag, values...)
}

// complete offers the values of a flag to the shell.
func complete(cmd *cobra.Command, flag string, values ...string) {
	completeBy(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeList is complete for a flag that takes several values, with commas.
func completeList(cmd *cobra.Command, flag string, values ...string) {
	completeBy(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return behindCommas(values, typed), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeBy offers what offer returns, for a flag that cmd has.
func completeBy(cmd *cobra.Command, flag string, offer cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(flag, offer) // it fails only where there is no such flag
}

// completeWorkloads offers the presets, beside files, as the one argument.
func completeWorkloads(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return loadgen.Presets(), cobra.ShellCompDirectiveDefault
}

// completeNames offers components, variants and cases to the shell, of those that
// list names. Where components were given before, the variants are theirs.
func completeNames(cmd *cobra.Command, list func() (listing, error)) {
	for flag, pick := range map[string]func(listing) []string{
		"component": func(l listing) (names []string) {
			for _, c := range l.Components {
				names = append(names, c.Name)
			}
			return names
		},
		"variant": func(l listing) (names []string) {
			components, _ := cmd.Flags().GetStringSlice("component") // none without the flag
			for _, v := range l.Variants {
				if len(components) == 0 || slices.Contains(components, v.Component) {
					names = append(names, v.Name)
				}
			}
			return names
		},
		"case": func(l listing) (names []string) {
			for _, c := range l.Cases {
				names = append(names, c.Name)
			}
			return names
		},
	} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		completeBy(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			l, err := list()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			names := pick(l)
			slices.Sort(names)
			return behindCommas(slices.Compact(names), typed), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// behindCommas are the names that may stand where the last one is typed, behind
// those before it: shells drop what does not begin with all that was typed.
func behindCommas(names []string, typed string) []string {
	before := typed[:strings.LastIndex(typed, ",")+1]
	given := strings.Split(before, ",")
	var left []string
	for _, name := range names {
		if !slices.Contains(given, name) {
			left = append(left, before+name)
		}
	}
	return left
}

package bench

import "strings"

var _ = strings.ToUpper

func exported(component string) string { return strings.ToUpper(component[:1]) + component[1:] }

package validate

import (
	_ "embed"
	"encoding/json"
)

// What `benchrun sim validate -o json` printed, with its defaults.
//
//go:embed recorded.json
var recorded []byte

// Recorded is an earlier run of Theory over all models, for reports.
func Recorded() []Row {
	var rows []Row
	// A test reads it, so there is no error.
	_ = json.Unmarshal(recorded, &rows)
	return rows
}

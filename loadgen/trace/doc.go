// Package trace holds recordings of watch traffic. Its steps, in order:
//
//  1. [Open] looks at the contents of a file, unpacks it and picks a source:
//     JSON documents of any shape (json.go), the audit logs of API servers
//     (audit_source.go) or a SimKube trace (simkube.go). The compact format is
//     JSON lines.
//  2. The source yields a [Record] an event, as it was recorded, its object
//     undecoded; [Trace.NextRecord] checks it (check.go) and hands it out.
//  3. The ledger (ledger.go) puts the records in terms of a cache: an object's
//     first event adds it. What was odd is counted, never dropped silently.
//  4. [Trace.Next] decodes the objects: a Trace is a [loadgen.Stream].
//     A file that was cut short ends it where the cut is; [Trace.Cut] tells.
//  5. [Replay] hands a recording's records out when they are due, at any [Pace].
//
// The other way, [Create] and [Resume] write the compact format, which
// format.md describes, and [NewJSON] writes lines. Subpackages record from a
// cluster (record), count (summary), hide names (anonymize) and find the
// workload that resembles a recording (fit).
package trace

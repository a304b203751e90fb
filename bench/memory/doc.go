// Package memory says how much memory a cache takes, and what would make it less. It
// measures: nothing in it is a formula over the objects' fields. Its steps:
//
//  1. Package input counts the objects that a cache would hold and keeps a sample.
//  2. [Measure] tries a small number, then plans the arms (plan.go): the load as it is
//     at three sizes, and at the largest without a part of the objects, with another way
//     to hold or to list them, with other settings of the collector.
//  3. Round by round, in an order shuffled anew, each arm is one fresh process of
//     package child, fed by package feed (measure.go).
//  4. Readings become figures with intervals (figures.go), these a [Result]
//     (conclude.go) with recommended settings and changes (advice.go), and tables
//     for people (tables.go).
//  5. [ReadHeap] says what a heap profile of a real process holds for its caches.
package memory

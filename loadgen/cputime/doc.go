// Package cputime tells what CPU time the process has used so far, on Unix and
// Windows, as the benchmarks and drives charge it to what they measure.
package cputime

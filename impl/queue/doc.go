// Package queue holds work queues that keep client-go's contract.
package queue

// Package informer has a cache.SharedIndexInformer.
package informer

// Package fifo has the queues between a Reflector and the consumer that keeps the
// store. Programs that use informers, and controller-runtime's managers, take package
// informer, whose informers have a RingInOrder. Others change client-go's constructor, and
// undo that to go back:
//
//	cache.NewFIFO(keyFunc)                    becomes   fifo.NewRingFIFO(fifo.Config{KeyFunc: keyFunc})
//	cache.NewDeltaFIFOWithOptions(options)    becomes   fifo.NewRingDeltaFIFO(config)
//	cache.NewRealFIFOWithOptions(options)     becomes   fifo.NewRingInOrder(config)
//
// What differs: Config.Queued is the only metric, there is no feature gate, and an
// error of Resync keeps its cause.
//
// An object goes through the same steps in each:
//
//  1. Its key is made. A key that can't be made is a cache.KeyError.
//  2. The transformer runs on it once, before it is queued (FIFO has none).
//     Tombstones and objects from the store have been through it.
//  3. Pop blocks until there is something or the queue is closed. What is queued at
//     Close is drained first, then Pop answers cache.ErrFIFOClosed.
//  4. The handler runs under the lock, so it must not call the queue (an atomic
//     in-order FIFO may release it). It may keep what it was given.
//  5. HasSynced is true once the handlers of the first Replace's items have returned,
//     or at once if Add, Update or Delete came before any Replace.
//
// Which one:
//
//   - FIFO holds the latest object of each key, for consumers that need neither
//     history nor deletions.
//   - DeltaFIFO holds every change of a key since it was last popped, as one
//     cache.Deltas. Two consecutive deletions count once.
//   - In-order FIFO, the queue of today's informers, holds every event in order,
//     popped one by one or in batches of distinct keys. With Config.Atomic a Replace,
//     Resync or Bookmark is one delta.
//
// The Ring types are the ones to use: a ring of fixed segments under a hash index.
// They take a few kilobytes more than client-go's while they hold a few objects.
// The Slice types are the plain reference.
package fifo

// Package drive runs a whole controller, made of any variants of the catalogue,
// under an open load, and says what became of every event.
//
//  1. The load sends watch events at the times its schedule fixes, however far
//     behind the controller is.
//  2. An informer per resource keeps the cache; its handlers put keys into a
//     rate limiting queue.
//  3. Workers take keys, read the cache, call an API under the client's rate
//     limit and work for the service time. Success is Forget and Done, failure
//     AddRateLimited until the retry limit, then Forget.
//  4. A ledger follows each event through the stages, from the time at which it
//     was due: watch, store, enqueued, picked up, reconciled, settled.
//  5. At the end of the load the controller drains, and the ledger is closed:
//     every event was seen or overtaken, every key's last state was seen, or the
//     drive failed.
package drive

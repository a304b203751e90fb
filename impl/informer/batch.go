package informer

// A kind says which method of a handler a notification calls.
type kind uint8

const (
	added kind = iota
	initialAdd
	updated
	resynced // an update by a list or a resync that changed nothing
	repeated // an update by the watch that changed nothing
	deleted
)

// A notification is one call of each handler.
type notification struct {
	old, new any
	kind     kind
}

// A batch is what one pop of the queue has to tell. The handlers share it.
type batch []notification

func (b *batch) add(n ...notification) { *b = append(*b, n...) }

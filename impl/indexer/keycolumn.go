package indexer

import "unsafe"

// A kept is what is kept of a key: its bytes and their number, or of one that is
// not shorter than long, a pointer to the string.
type kept struct {
	data unsafe.Pointer
	len  uint8
}

const long = 0x7f

func keptOf(key string) kept {
	if len(key) >= long {
		s := key // apart, as only this one is to be allocated
		return kept{unsafe.Pointer(&s), long}
	}
	return kept{unsafe.Pointer(unsafe.StringData(key)), uint8(len(key))}
}

func (k kept) key() string {
	if k.len < long {
		return unsafe.String((*byte)(k.data), k.len)
	}
	return *(*string)(k.data)
}

// A keyColumn is the keys of all objects, by slot. It takes nine bytes a key where
// strings take sixteen.
type keyColumn struct {
	data vector[unsafe.Pointer]
	lens vector[uint8]
}

func (v *keyColumn) at(i uint32) kept { return kept{*v.data.look(i), *v.lens.look(i)} }

// touch reads where key i is.
func (v *keyColumn) touch(i uint32) {
	touch(v.data.look(i))
	touch((*uint64)(unsafe.Pointer((*v.lens.leaves)[i/leafLen])))
}

func (v *keyColumn) set(i uint32, k kept, c *clock) {
	v.data.set(i, k.data, c)
	if v.lens.at(i) != k.len { // keys of one store are often equally long
		v.lens.set(i, k.len, c)
	}
}

func (v *keyColumn) push(k kept, c *clock) {
	v.data.push(k.data, c)
	v.lens.push(k.len, c)
}

func (v *keyColumn) pop(c *clock) {
	v.data.pop(c)
	v.lens.pop(c)
}

func (v *keyColumn) snapshot(c *clock) keyView {
	return keyView{v.data.snapshot(c), v.lens.snapshot(c)}
}

// A keyView is a keyColumn's keys at one moment.
type keyView struct {
	data view[unsafe.Pointer]
	lens view[uint8]
}

func (w keyView) key(i uint32) string { return kept{*w.data.look(i), *w.lens.look(i)}.key() }

// all is all keys.
func (w keyView) all() []string {
	keys := make([]string, w.data.n)
	for i := 0; i < len(keys); i += leafLen {
		data, lens := w.data.part(i), w.lens.part(i)
		lens = lens[:len(data)]
		for j, p := range data {
			keys[i+j] = kept{p, lens[j]}.key()
		}
	}
	return keys
}

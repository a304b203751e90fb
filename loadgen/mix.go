package loadgen

import "time"

// A mixer makes changes of types drawn by weight. Updates bring up the pods
// that are starting, and beyond that go to the objects that the skew draws.
type mixer struct {
	*population
	live     []uint32  // keys, by rank
	starting []newborn // pods not yet running, and some that died meanwhile
}

type newborn struct{ key, birth uint32 }

func newMixer(p *population) *mixer {
	m := &mixer{population: p, live: make([]uint32, len(p.entities), cap(p.entities))}
	for i := range m.live {
		m.live[i] = uint32(i)
	}
	return m
}

func (m *mixer) change(at time.Duration) change {
	weights := &m.spec.Events.Mix
	x := m.random.float() * (weights.Add + weights.Update + weights.Delete)
	switch {
	case x < weights.Add || len(m.live) == 0:
		c := m.create(m.random.below(m.groups))
		m.live = append(m.live, c.key)
		if m.spec.pods() {
			m.starting = append(m.starting, newborn{c.key, m.entities[c.key].birth})
		} else {
			m.entities[c.key].stage = running
		}
		return c
	case x < weights.Add+weights.Update:
		if key, ok := m.nextStarting(); ok {
			return m.advance(key, m.entities[key].stage+1)
		}
		return m.advance(m.live[m.picker.pick(m.random, len(m.live), at)], restarted)
	}
	i, last := m.random.below(len(m.live)), len(m.live)-1
	key := m.live[i]
	m.live[i] = m.live[last] // the youngest takes over the rank
	m.live = m.live[:last]
	return m.advance(key, deleted)
}

// nextStarting draws a pod that is not yet running. The last stage before
// running takes it off the list.
func (m *mixer) nextStarting() (key uint32, ok bool) {
	for len(m.starting) > 0 {
		i, last := m.random.below(len(m.starting)), len(m.starting)-1
		s := m.starting[i]
		e := m.entities[s.key]
		alive := e.birth == s.birth && e.stage < running
		if alive && e.stage < creating {
			return s.key, true
		}
		m.starting[i] = m.starting[last]
		m.starting = m.starting[:last]
		if alive {
			return s.key, true
		}
	}
	return 0, false
}

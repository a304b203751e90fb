package sim

import (
	"errors"
	"io"

	"github.com/informerbench/informerbench/loadgen"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// A Recording is what a stream of real events asks of a controller: which object
// changes when. It takes 32 bytes an event and serves any number of simulations.
type Recording struct {
	draws   []loadgen.Draw
	objects []map[string]uint32 // by resource, numbers by key
}

// Record reads a stream to its end. Bookmarks ask for nothing and are left out.
func Record(s loadgen.Stream) (*Recording, error) {
	r := &Recording{}
	for {
		event, err := s.Next()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		if event.Type == watch.Bookmark {
			continue
		}
		for event.Resource >= len(r.objects) {
			r.objects = append(r.objects, map[string]uint32{})
		}
		numbers := r.objects[event.Resource]
		name := cache.MetaObjectToName(event.Object).String()
		number, known := numbers[name]
		if !known {
			number = uint32(len(numbers))
			numbers[name] = number
		}
		r.draws = append(r.draws, loadgen.Draw{At: event.At, Resource: event.Resource, Key: number, Type: event.Type})
	}
}

// Len is the number of events.
func (r *Recording) Len() int { return len(r.draws) }

// Objects is the number of different objects of a resource.
func (r *Recording) Objects(resource int) int {
	if resource >= len(r.objects) {
		return 0
	}
	return len(r.objects[resource])
}

// Arrivals plays the recording from its start.
func (r *Recording) Arrivals() Arrivals { return &playback{rest: r.draws} }

type playback struct{ rest []loadgen.Draw }

func (p *playback) Next() (loadgen.Draw, bool) {
	if len(p.rest) == 0 {
		return loadgen.Draw{}, false
	}
	d := p.rest[0]
	p.rest = p.rest[1:]
	return d, true
}

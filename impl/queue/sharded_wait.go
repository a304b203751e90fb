package queue

// wake wakes a worker if one is wanted. Call it after a push.
func (q *shardedQueue[T, E]) wake() {
	if !q.wanted.Load() {
		return
	}
	q.mu.Lock()
	wake := q.sleeping > 0 && q.woken == 0
	if wake {
		q.sleeping--
		q.woken++
		q.want()
	}
	q.mu.Unlock()
	if wake {
		q.ready.Signal()
	}
}

// sleep waits while nothing is queued, and reports false when nothing is and
// the queue was shut down.
func (q *shardedQueue[T, E]) sleep() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.filled.Load() == 0 {
		if q.closed.Load() {
			// An Add may have come between the two reads, but none comes now.
			return q.filled.Load() != 0
		}
		q.sleeping++
		q.want()
		if q.filled.Load() != 0 {
			q.sleeping--
		} else {
			q.ready.Wait()
			q.woken--
		}
		q.want()
	}
	return true
}

// want sets wanted. To write it costs more than to read it.
func (q *shardedQueue[T, E]) want() {
	if wanted := q.sleeping > 0 && q.woken == 0; wanted != q.wanted.Load() {
		q.wanted.Store(wanted)
	}
}

func (q *shardedQueue[T, E]) ShutDown()          { q.shutDown(false) }
func (q *shardedQueue[T, E]) ShutDownWithDrain() { q.shutDown(true) }

func (q *shardedQueue[T, E]) shutDown(drain bool) {
	if q.meter != nil {
		q.stopMeter.Do(q.meter.Stop)
		defer q.meter.Wait()
	}
	q.close()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drain.Store(drain)
	q.woken += q.sleeping
	q.sleeping = 0
	q.want()
	q.ready.Broadcast()
	q.idle.Broadcast()
	for q.drain.Load() && q.sum(func(s *shard[T, E]) int { return s.processing }) > 0 {
		q.idle.Wait()
	}
}

// close makes all shards ignore Add from one moment on.
func (q *shardedQueue[T, E]) close() {
	for i := range q.shards {
		q.shards[i].Lock()
	}
	q.closed.Store(true)
	for i := range q.shards {
		q.shards[i].closed = true
		q.shards[i].Unlock()
	}
}

func (q *shardedQueue[T, E]) ShuttingDown() bool { return q.closed.Load() }

package detect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// What a guard remembers of events: a run of days must not fill the memory.
const (
	maxEvents    = 4096
	maxEventEnvs = 1 << 20 // env ids over all events
)

// eventLog keeps the events of a run, oldest first.
type eventLog struct {
	list    []event
	envs    int // env ids over all of list
	dropped int
}

// event is an event whose tick may not be known yet.
type event struct {
	dump.Event
	later func() (tick int64, ok bool) // nil when Tick is as exact as it will be
}

// add keeps an event; it shares nothing with what the caller gave.
func (l *eventLog) add(e dump.Event) {
	detail, err := dump.Plain(e.Detail)
	if err != nil {
		detail = "detail left out: " + err.Error()
	}
	e.Detail = detail
	e.Envs = slices.Clone(e.Envs)
	if e.Count == 0 {
		e.Count = len(e.Envs)
	}
	for len(l.list) >= maxEvents || len(l.list) > 0 && l.envs+len(e.Envs) > maxEventEnvs {
		l.thin()
	}
	l.list = append(l.list, event{Event: e})
	l.envs += len(e.Envs)
}

// resolve gives the events the ticks that have become known.
func (l *eventLog) resolve() {
	for i := range l.list {
		e := &l.list[i]
		if e.later == nil {
			continue
		}
		if tick, ok := e.later(); ok {
			e.Tick, e.later = tick, nil
		}
	}
}

// clone returns a log that shares nothing that changes.
func (l *eventLog) clone() eventLog {
	l.resolve()
	c := *l
	c.list = slices.Clone(l.list)
	return c
}

// thin drops a quarter of the events: the oldest resets, which come by the
// thousand, and only where there are too few of them the oldest of any kind.
func (l *eventLog) thin() {
	n := max(len(l.list)/4, 1)
	n -= l.drop(n, func(e event) bool { return e.Kind == dump.EventReset || e.Kind == dump.EventEpisodeStart })
	l.drop(n, func(event) bool { return true })
}

// drop drops the oldest n events that match and returns how many there were.
func (l *eventLog) drop(n int, match func(event) bool) int {
	dropped := 0
	l.list = slices.DeleteFunc(l.list, func(e event) bool {
		if dropped == n || !match(e) {
			return false
		}
		dropped++
		l.envs -= len(e.Envs)
		return true
	})
	l.dropped += dropped
	return dropped
}

// draft returns the events as a dump holds them: in order of tick, and of their
// envs only those in the file.
func (l *eventLog) draft(envIDs []int, tick int64) []dump.Event {
	inFile := map[int]bool{}
	for _, id := range envIDs {
		inFile[id] = true
	}
	var list []dump.Event
	for _, e := range l.list {
		var envs []int
		for _, id := range e.Envs {
			if inFile[id] {
				envs = append(envs, id)
			}
		}
		e.Envs = envs
		list = append(list, e.Event)
	}
	if l.dropped > 0 {
		list = append(list, dump.Event{
			Tick: tick, Kind: dump.EventWarning,
			Detail: fmt.Sprintf("%d events were dropped to keep %d, old resets first", l.dropped, maxEvents),
		})
	}
	slices.SortStableFunc(list, func(a, b dump.Event) int { return cmp.Compare(a.Tick, b.Tick) })
	return list
}

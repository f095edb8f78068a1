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
	list    []dump.Event
	envs    int // env ids over all of list
	dropped int
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
	l.list = append(l.list, e)
	l.envs += len(e.Envs)
}

// clone returns a log that shares nothing that changes.
func (l *eventLog) clone() eventLog {
	c := *l
	c.list = slices.Clone(l.list)
	return c
}

// thin drops a quarter of the events: the oldest resets, which come by the
// thousand, and only where there are too few of them the oldest of any kind.
func (l *eventLog) thin() {
	n := max(len(l.list)/4, 1)
	n -= l.drop(n, func(e dump.Event) bool { return e.Kind == dump.EventReset || e.Kind == dump.EventEpisodeStart })
	l.drop(n, func(dump.Event) bool { return true })
}

// drop drops the oldest n events that match and returns how many there were.
func (l *eventLog) drop(n int, match func(dump.Event) bool) int {
	dropped := 0
	l.list = slices.DeleteFunc(l.list, func(e dump.Event) bool {
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
	list := slices.Clone(l.list)
	for i := range list {
		var envs []int
		for _, id := range list[i].Envs {
			if inFile[id] {
				envs = append(envs, id)
			}
		}
		list[i].Envs = envs
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

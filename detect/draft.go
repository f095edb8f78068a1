package detect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// dumping is what a dump takes from the guard when it begins. It shares nothing
// that the loop may change.
type dumping struct {
	cfg    *Config
	rec    recorder
	trip   *dump.Trip // as far as it was known
	fields []*field   // by FieldID
	reason string
	blamed []int
	at     moment
	later  func() (tick int64, ok bool) // at, once it is known
	stamp  string
	gpu    string
	events eventLog
	facts  map[string]any
}

// begin freezes the recorder and collects what a dump needs. The caller holds
// the lock.
func (g *Guard) begin(reason string, blamed []int) *dumping {
	d := &dumping{
		cfg: &g.cfg, rec: g.rec, fields: slices.Clone(g.fields), reason: reason,
		at: g.now(), later: g.later(), stamp: g.timestamp(), events: g.events.clone(), facts: maps.Clone(g.facts),
	}
	d.blame(blamed)
	g.addressFacts(d.facts)
	if g.gpu != nil {
		d.gpu = g.gpu.device.Name
	}
	if g.trip != nil {
		trip := g.trip.trip
		d.trip = &trip
		if len(d.blamed) == 0 {
			d.stamp = g.trip.timestamp
		}
	}
	return d
}

// blame takes in the envs that the caller blames. What is no env must not cost
// the dump, since there may be no other: it is left out, and an event says so.
func (d *dumping) blame(envs []int) {
	var strange []string
	for _, e := range envs {
		if e >= 0 && e < d.cfg.NumEnvs {
			d.blamed = append(d.blamed, e)
			continue
		}
		strange = append(strange, strconv.Itoa(e))
	}
	n := len(strange)
	if n == 0 {
		return
	}
	if n > mostStrange {
		strange = append(strange[:mostStrange], fmt.Sprintf("%d more", n-mostStrange))
	}
	d.events.add(dump.Event{
		Tick: d.at.tick, Kind: dump.EventWarning, Count: n,
		Detail: fmt.Sprintf("left out of the suspects, as the envs are 0 to %d: %s", d.cfg.NumEnvs-1, strings.Join(strange, ", ")),
	})
}

// mostStrange is how many suspects that are no envs a warning lists.
const mostStrange = 8

// write completes and writes a dump. What the recorder cannot tell any more is
// missing in it, and an error besides.
func (d *dumping) write() (path string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("write dump into %q: internal error: %v", d.cfg.Dir, r)
		}
	}()
	draft, lost := d.draft()
	path, err = dump.WriteFile(d.cfg.Dir, draft)
	return path, cmp.Or(err, lost)
}

// draft returns the dump, and an error when frames are missing from it.
func (d *dumping) draft() (*dump.Draft, error) {
	s, err := d.told()
	d.resolve()
	if err == nil {
		var draft *dump.Draft
		if draft, err = d.draftOf(s); err == nil {
			return draft, nil
		}
	}
	err = fmt.Errorf("dump: the frames are lost: %w", err)
	d.events.add(dump.Event{Tick: d.at.tick, Kind: dump.EventWarning, Detail: err.Error()})
	draft, _ := d.draftOf(&story{moment: d.at, trip: d.trip, fields: make([]told, len(d.fields))})
	return draft, err
}

// resolve takes in the ticks that the recorder has told since the dump began.
func (d *dumping) resolve() {
	d.events.resolve()
	if d.later == nil {
		return
	}
	if tick, ok := d.later(); ok {
		d.at.tick = tick
	}
}

// told returns the recorder's story, an empty one before the first check.
func (d *dumping) told() (*story, error) {
	if d.rec == nil {
		return &story{}, nil
	}
	return d.rec.story()
}

// draftOf returns the dump of a story.
func (d *dumping) draftOf(s *story) (*dump.Draft, error) {
	tick := s.tick
	if s.trip != nil && len(d.blamed) == 0 {
		tick = s.trip.Tick
	}
	rows, roles := d.chooseRows(s, tick)
	out := &dump.Draft{
		Manifest: dump.Manifest{
			Run: d.run(), NumEnvs: d.cfg.NumEnvs, EnvIDs: rows, EnvRoles: roles,
			Clocks: d.clocks(s), FirstBad: d.firstBads(s), Facts: d.facts,
		},
		Meta: dump.MetaDraft{
			BadEnvIDs: slices.Sorted(slices.Values(s.badEnvsBy(s.tick))), DetectionStep: detectionStep(s),
			Timestamp: d.stamp, Note: d.note(),
		},
		Model: d.cfg.Model,
	}
	if s.trip != nil && !isPrecursor(s.trip) {
		out.Manifest.Trip = s.trip
	}
	out.Manifest.Events = d.eventsOf(s, rows)
	return out, d.addFields(out, s)
}

// run returns what is known of the process.
func (d *dumping) run() dump.Run {
	run := d.cfg.Run
	if run.Exception == "" && exceptionText.MatchString(d.reason) {
		run.Exception = d.reason
	}
	run.GPU = cmp.Or(run.GPU, d.gpu)
	return run
}

// note returns the reason as events and metadata have it: of an exception only
// what it says first, as the run has all of it.
func (d *dumping) note() string {
	if !exceptionText.MatchString(d.reason) || d.run().Exception != d.reason {
		return d.reason
	}
	said, _, _ := strings.Cut(d.reason, "\n")
	return said
}

// clocks returns the counts of the clocks that were used.
func (d *dumping) clocks(s *story) map[dump.Clock]int64 {
	used := map[dump.Clock]int64{}
	for i, n := range s.counts {
		if n > 0 {
			used[clocks[i]] = n
		}
	}
	for _, f := range d.fields {
		if len(s.held(f.id).ticks) > 0 {
			used[f.spec.Clock] = s.counts[f.clock]
		}
	}
	return used
}

// firstBads returns the first_bad list in order of tick.
func (d *dumping) firstBads(s *story) []dump.FirstBad {
	list := []dump.FirstBad{}
	for _, f := range inOrder(d.fields) {
		if b := s.held(f.id).first; b != nil {
			list = append(list, *b)
		}
	}
	slices.SortStableFunc(list, func(a, b dump.FirstBad) int { return cmp.Compare(a.Tick, b.Tick) })
	return list
}

// detectionStep returns mjlab's counter: the substeps so far or, where there is
// no such clock, the steps or whatever the trip was counted in.
func detectionStep(s *story) int64 {
	for _, n := range s.counts {
		if n > 0 {
			return n
		}
	}
	return 0
}

// eventsOf returns the events, the reason last. The dump format has no trip for
// a value that is finite: it becomes an event.
func (d *dumping) eventsOf(s *story, rows []int) []dump.Event {
	log := d.events.clone()
	if s.trip != nil && isPrecursor(s.trip) {
		for _, f := range d.fields {
			if f.spec.Name == s.trip.Field {
				log.add(f.precursorEvent(s.trip))
			}
		}
	}
	events := log.draft(rows, d.at.tick)
	if d.reason != "" {
		events = append(events, dump.Event{Tick: max(d.at.tick, s.tick), Kind: dump.EventNote, Count: len(d.blamed), Detail: d.note()})
	}
	return events
}

// addFields adds frames, traces and states. A field without frames is listed
// where something else names it.
func (d *dumping) addFields(out *dump.Draft, s *story) error {
	for _, f := range inOrder(d.fields) {
		held := s.held(f.id)
		if len(held.ticks) == 0 {
			if out.Manifest.Trip != nil && out.Manifest.Trip.Field == f.spec.Name || held.first != nil {
				out.Manifest.Fields = append(out.Manifest.Fields, f.spec)
			}
			continue
		}
		frames, err := s.frames(f.id, f.rows(out.Manifest.EnvIDs))
		if err != nil {
			return err
		}
		out.Manifest.Fields = append(out.Manifest.Fields, f.spec)
		out.Fields = append(out.Fields, dump.FieldDraft{Name: f.spec.Name, Frames: frames, Trace: held.trace})
	}
	out.States = states(out, d.cfg.StateSpec)
	return nil
}

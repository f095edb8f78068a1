package detect

import (
	"encoding/json"
	"strconv"

	"github.com/nanguard/nanguard/dump"
)

// noteCapture remembers the addresses that a captured graph reads, as a
// graph_capture event lists them: {graph, reads: {field: address}}.
//
// The guard looks after those that are the address which the field has now: a
// later check at another address becomes a buffer_moved event, and the dump
// tells the last address as the fact "address.<field>". Other addresses (ids of
// the caller's own making) are kept as they are, and it is for the caller to
// note a move and to state the fact.
func (g *Guard) noteCapture(e dump.Event) {
	detail, _ := e.Detail.(map[string]any)
	reads, _ := detail["reads"].(map[string]any)
	for name, v := range reads {
		id, bound := g.byName[name]
		if !bound {
			continue
		}
		if f := g.fields[id]; f.address != 0 && addressOf(v) == f.address {
			f.captured = f.address
			g.forget()
		}
	}
}

// addressOf returns a plain value as an address, 0 when it is none.
func addressOf(v any) uintptr {
	var text string
	switch v := v.(type) {
	case json.RawMessage:
		text = string(v)
	case string:
		text = v
	case float64:
		return uintptr(v)
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0
	}
	return uintptr(n)
}

// followAddresses looks at where the fields of a check lie.
func (g *Guard) followAddresses(r *request) {
	if r.capturing {
		g.noteOwnCapture()
	}
	g.capture = r.capturing
	for i := range g.given {
		f := g.fields[g.given[i].ID]
		if a := g.given[i].Ref.Address(); a != f.address {
			g.movedTo(f, a)
		}
	}
}

// movedTo notes, once, that a field which a graph reads was checked elsewhere.
func (g *Guard) movedTo(f *field, address uintptr) {
	was := f.address
	f.address = address
	if f.captured == 0 || f.moved || address == f.captured {
		return
	}
	f.moved = true
	g.happened(dump.Event{
		Kind: dump.EventBufferMoved, Name: f.spec.Name,
		Detail: map[string]any{"field": f.spec.Name, "from": uint64(was), "to": uint64(address)},
	})
}

// noteOwnCapture notes what a graph under construction reads by way of the
// checks that become part of it: once at the first check of a capture, and again
// when another one reads elsewhere.
func (g *Guard) noteOwnCapture() {
	g.inGraph = true
	news := !g.capture
	for i := range g.given {
		f, a := g.fields[g.given[i].ID], g.given[i].Ref.Address()
		news = news || f.captured != a
		f.address = a
	}
	if !news {
		return
	}
	reads := map[string]any{}
	for i := range g.given {
		f := g.fields[g.given[i].ID]
		reads[f.spec.Name] = uint64(f.address)
	}
	g.happened(dump.Event{
		Kind:   dump.EventGraphCapture,
		Detail: map[string]any{"graph": "guard", "reads": reads},
	})
}

// leaveOut notes, once, that a graph does not watch a field.
func (g *Guard) leaveOut(f *field, why string) {
	if f.unseen {
		return
	}
	f.unseen = true
	g.happened(dump.Event{
		Kind: dump.EventWarning, Name: f.spec.Name,
		Detail: f.spec.Name + " " + why,
	})
}

// addressFacts adds the addresses of captured fields to facts, where the run
// did not state them itself.
func (g *Guard) addressFacts(facts map[string]any) {
	for _, f := range g.fields {
		name := "address." + f.spec.Name
		if _, stated := facts[name]; !stated && f.captured != 0 {
			facts[name] = uint64(f.address)
		}
	}
}

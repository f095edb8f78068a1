package dump

import (
	"errors"
	"fmt"
)

// What one pickle may cost. Real metadata has some dozens of objects, four deep.
const (
	maxObjects = 1 << 20 // objects made, items put into them, memo entries
	maxStack   = 1 << 16
	maxNesting = 64
)

// unpickle decodes the pickle of an object array whose one element is a dict, as
// numpy saves it. A dict by itself is taken too.
//
// It is a machine for data alone: a pickle may ask its reader to import and
// call anything, and this one knows four callables of numpy and OrderedDict,
// which it imitates. Whatever else is asked for is an error that names it.
func unpickle(b []byte) (*Metadata, error) {
	u := &unpickler{in: b, memo: map[uint64]any{}}
	v, err := u.run()
	if err != nil {
		return nil, fmt.Errorf("pickle, byte %d: %w", u.at, err)
	}
	if a, ok := v.(*pyArray); ok && a.items != nil && a.count == 1 {
		v = a.items.items[0]
	}
	d, ok := v.(*pyDict)
	if !ok {
		return nil, fmt.Errorf("pickle holds %s; a dict was expected", pyName(v))
	}
	m, err := new(plainer).dict(d, 0)
	if err != nil {
		return nil, fmt.Errorf("pickle: %w", err)
	}
	return m, nil
}

// unpickler is the state of the machine: Python's protocols 0 to 5 are one
// stack language.
type unpickler struct {
	in    []byte
	pos   int // of the next byte
	at    int // of the opcode under way
	stack []any
	memo  map[uint64]any
	spent int
}

// The objects on the stack that are not plain Go values (nil, bool, int64,
// float64, string).
type (
	pyMark   struct{} // opened by MARK
	pyGlobal string   // an accepted global, "numpy.dtype"
	pyBytes  []byte
	pyTuple  []any
	pyList   struct{ items []any } // a list or a set
	pyDict   struct{ keys, values []any }
)

// run executes opcodes until STOP and returns what that leaves.
func (u *unpickler) run() (any, error) {
	for {
		u.at = u.pos
		op, err := u.byte()
		if err != nil {
			return nil, err
		}
		if op == '.' {
			return u.pop()
		}
		do := opcodes[op]
		if do == nil {
			return nil, fmt.Errorf("opcode 0x%02x is not one of plain data", op)
		}
		if err := do(u); err != nil {
			return nil, err
		}
	}
}

// spend books n objects.
func (u *unpickler) spend(n int) error {
	if u.spent += n; u.spent > maxObjects {
		return fmt.Errorf("more than %d objects", maxObjects)
	}
	return nil
}

// push puts a new object on the stack.
func (u *unpickler) push(v any) error {
	if len(u.stack) >= maxStack {
		return fmt.Errorf("more than %d objects at once: nested too deep", maxStack)
	}
	u.stack = append(u.stack, v)
	return u.spend(1)
}

var errStack = errors.New("takes an object that is not there")

// pop removes the topmost object, which must not be a mark.
func (u *unpickler) pop() (any, error) {
	v, err := u.top()
	if err != nil {
		return nil, err
	}
	u.stack = u.stack[:len(u.stack)-1]
	return v, nil
}

// top returns the topmost object, which must not be a mark.
func (u *unpickler) top() (any, error) {
	if len(u.stack) == 0 {
		return nil, errStack
	}
	v := u.stack[len(u.stack)-1]
	if _, mark := v.(pyMark); mark {
		return nil, errStack
	}
	return v, nil
}

// popMark removes all above the last mark, and the mark, and returns a copy of
// what stood there.
func (u *unpickler) popMark() ([]any, error) {
	for i := len(u.stack) - 1; i >= 0; i-- {
		if _, mark := u.stack[i].(pyMark); mark {
			items := append([]any(nil), u.stack[i+1:]...)
			u.stack = u.stack[:i]
			return items, u.spend(len(items))
		}
	}
	return nil, errors.New("closes a group that was not opened")
}

// popTuple removes the n topmost objects.
func (u *unpickler) popTuple(n int) (pyTuple, error) {
	t := make(pyTuple, n)
	for i := n - 1; i >= 0; i-- {
		v, err := u.pop()
		if err != nil {
			return nil, err
		}
		t[i] = v
	}
	return t, nil
}

// topAs returns the topmost object when it is a T.
func topAs[T any](u *unpickler) (T, error) {
	v, err := u.top()
	if err != nil {
		var none T
		return none, err
	}
	t, ok := v.(T)
	if !ok {
		return t, fmt.Errorf("meets %s where another kind of object was expected", pyName(v))
	}
	return t, nil
}

// pyName names the kind of an object for a message.
func pyName(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case pyGlobal:
		return string(v)
	case pyTuple:
		return "a tuple"
	case pyBytes:
		return "bytes"
	case *pyList:
		return "a list"
	case *pyDict:
		return "a dict"
	case *pyArray:
		return "an array"
	case *pyDType:
		return "a dtype"
	}
	return fmt.Sprintf("a %T", v)
}

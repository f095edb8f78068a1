package dump

import (
	"errors"
	"fmt"
	"math"
)

// opcodes holds what each opcode does; those that are missing are refused
// (persistent ids, the extension registry, calls by class, outside buffers).
var opcodes = [256]func(*unpickler) error{
	0x80: (*unpickler).skip1, // PROTO
	0x95: (*unpickler).skip8, // FRAME

	'N':  func(u *unpickler) error { return u.push(nil) },
	0x88: func(u *unpickler) error { return u.push(true) },
	0x89: func(u *unpickler) error { return u.push(false) },
	'K':  func(u *unpickler) error { return u.pushUint(1) },
	'M':  func(u *unpickler) error { return u.pushUint(2) },
	'J':  (*unpickler).opBinInt,
	'I':  (*unpickler).opInt,
	'L':  (*unpickler).opLong,
	0x8a: func(u *unpickler) error { return u.opLongBytes(1) },
	0x8b: func(u *unpickler) error { return u.opLongBytes(4) },
	'F':  (*unpickler).opFloat,
	'G':  (*unpickler).opBinFloat,

	'S':  (*unpickler).opQuoted,
	'V':  (*unpickler).opUnicode,
	'T':  func(u *unpickler) error { return u.pushString(4) },
	'U':  func(u *unpickler) error { return u.pushString(1) },
	'X':  func(u *unpickler) error { return u.pushString(4) },
	0x8c: func(u *unpickler) error { return u.pushString(1) },
	0x8d: func(u *unpickler) error { return u.pushString(8) },
	'B':  func(u *unpickler) error { return u.pushBytes(4) },
	'C':  func(u *unpickler) error { return u.pushBytes(1) },
	0x8e: func(u *unpickler) error { return u.pushBytes(8) },
	0x96: func(u *unpickler) error { return u.pushBytes(8) }, // BYTEARRAY8

	']':  func(u *unpickler) error { return u.push(&pyList{}) },
	'}':  func(u *unpickler) error { return u.push(&pyDict{}) },
	')':  func(u *unpickler) error { return u.push(pyTuple{}) },
	0x8f: func(u *unpickler) error { return u.push(&pyList{}) }, // EMPTY_SET
	'l':  func(u *unpickler) error { return u.pushGroup(asList) },
	0x91: func(u *unpickler) error { return u.pushGroup(asList) }, // FROZENSET
	't':  func(u *unpickler) error { return u.pushGroup(asTuple) },
	'd':  (*unpickler).opDict,
	0x85: func(u *unpickler) error { return u.pushTuple(1) },
	0x86: func(u *unpickler) error { return u.pushTuple(2) },
	0x87: func(u *unpickler) error { return u.pushTuple(3) },
	'a':  (*unpickler).opAppend,
	'e':  (*unpickler).opAppends,
	0x90: (*unpickler).opAppends, // ADDITEMS
	's':  (*unpickler).opSetItem,
	'u':  (*unpickler).opSetItems,

	'(': func(u *unpickler) error { return u.push(pyMark{}) },
	'0': func(u *unpickler) error { _, err := u.pop(); return err },
	'1': func(u *unpickler) error { _, err := u.popMark(); return err },
	'2': (*unpickler).opDup,

	'p':  func(u *unpickler) error { return u.put(u.lineIndex()) },
	'q':  func(u *unpickler) error { return u.put(u.uint(1)) },
	'r':  func(u *unpickler) error { return u.put(u.uint(4)) },
	0x94: func(u *unpickler) error { return u.put(uint64(len(u.memo)), nil) },
	'g':  func(u *unpickler) error { return u.get(u.lineIndex()) },
	'h':  func(u *unpickler) error { return u.get(u.uint(1)) },
	'j':  func(u *unpickler) error { return u.get(u.uint(4)) },

	'c':  (*unpickler).opGlobal,
	'i':  (*unpickler).opInst,
	0x93: (*unpickler).opStackGlobal,
	'R':  (*unpickler).opCall,
	0x81: (*unpickler).opCall, // NEWOBJ
	'b':  (*unpickler).opBuild,
}

// pushTuple makes a tuple of the n topmost objects.
func (u *unpickler) pushTuple(n int) error {
	t, err := u.popTuple(n)
	if err != nil {
		return err
	}
	return u.push(t)
}

// pushGroup makes one object of what stands above the last mark.
func (u *unpickler) pushGroup(as func([]any) any) error {
	items, err := u.popMark()
	if err != nil {
		return err
	}
	return u.push(as(items))
}

func asList(items []any) any  { return &pyList{items} }
func asTuple(items []any) any { return pyTuple(items) }

func (u *unpickler) opDict() error {
	items, err := u.popMark()
	if err != nil {
		return err
	}
	d := &pyDict{}
	if err := d.set(items); err != nil {
		return err
	}
	return u.push(d)
}

func (u *unpickler) opAppend() error {
	v, err := u.pop()
	if err != nil {
		return err
	}
	return u.extend([]any{v})
}

func (u *unpickler) opAppends() error {
	items, err := u.popMark()
	if err != nil {
		return err
	}
	return u.extend(items)
}

// extend adds items to the list on top.
func (u *unpickler) extend(items []any) error {
	l, err := topAs[*pyList](u)
	if err != nil {
		return err
	}
	l.items = append(l.items, items...)
	return u.spend(len(items))
}

func (u *unpickler) opSetItem() error {
	pair, err := u.popTuple(2)
	if err != nil {
		return err
	}
	return u.update(pair)
}

func (u *unpickler) opSetItems() error {
	items, err := u.popMark()
	if err != nil {
		return err
	}
	return u.update(items)
}

// update adds keys and values, in turn, to the dict on top.
func (u *unpickler) update(items []any) error {
	d, err := topAs[*pyDict](u)
	if err != nil {
		return err
	}
	if err := u.spend(len(items)); err != nil {
		return err
	}
	return d.set(items)
}

// set adds keys and values, in turn. Of two equal keys the later one counts
// once the dict is made plain.
func (d *pyDict) set(items []any) error {
	if len(items)%2 != 0 {
		return errors.New("gives a dict a key without a value")
	}
	for i := 0; i < len(items); i += 2 {
		d.keys = append(d.keys, items[i])
		d.values = append(d.values, items[i+1])
	}
	return nil
}

func (u *unpickler) opDup() error {
	v, err := u.top()
	if err != nil {
		return err
	}
	return u.push(v)
}

// put remembers the topmost object.
func (u *unpickler) put(i uint64, err error) error {
	if err != nil {
		return err
	}
	v, err := u.top()
	if err != nil {
		return err
	}
	u.memo[i] = v
	return u.spend(1)
}

// get pushes a remembered object.
func (u *unpickler) get(i uint64, err error) error {
	if err != nil {
		return err
	}
	v, ok := u.memo[i]
	if !ok {
		return fmt.Errorf("recalls object %d, which was not remembered", i)
	}
	return u.push(v)
}

func (u *unpickler) pushUint(size int) error {
	n, err := u.uint(size)
	if err != nil {
		return err
	}
	return u.push(int64(n))
}

func (u *unpickler) opBinInt() error {
	n, err := u.uint(4)
	if err != nil {
		return err
	}
	return u.push(int64(int32(n)))
}

// opBinFloat reads the one big-endian number of the language.
func (u *unpickler) opBinFloat() error {
	b, err := u.take(8)
	if err != nil {
		return err
	}
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return u.push(math.Float64frombits(n))
}

func (u *unpickler) pushString(size int) error {
	b, err := u.counted(size)
	if err != nil {
		return err
	}
	return u.push(string(b))
}

func (u *unpickler) pushBytes(size int) error {
	b, err := u.counted(size)
	if err != nil {
		return err
	}
	return u.push(pyBytes(b))
}

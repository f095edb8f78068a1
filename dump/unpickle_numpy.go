package dump

import (
	"errors"
	"fmt"
)

// pyArray is a numpy array: _reconstruct makes it empty, BUILD fills it.
type pyArray struct {
	elem  npyType
	shape []int
	count int
	data  pyBytes // of numbers and text
	items *pyList // of objects
	note  string  // why the elements are not known
}

// pyDType is a numpy dtype: the call names it, BUILD gives its byte order.
type pyDType struct{ name, order string }

// The globals that a pickle may name, by what they stand for.
const (
	pyReconstruct pyGlobal = "numpy.core.multiarray._reconstruct"
	pyScalar      pyGlobal = "numpy.core.multiarray.scalar"
	pyNDArray     pyGlobal = "numpy.ndarray"
	pyNewDType    pyGlobal = "numpy.dtype"
	pyOrdered     pyGlobal = "collections.OrderedDict"
)

// globals lists them as pickles spell them: numpy 2 renamed a module.
var globals = map[[2]string]pyGlobal{
	{"numpy.core.multiarray", "_reconstruct"}:  pyReconstruct,
	{"numpy._core.multiarray", "_reconstruct"}: pyReconstruct,
	{"numpy.core.multiarray", "scalar"}:        pyScalar,
	{"numpy._core.multiarray", "scalar"}:       pyScalar,
	{"numpy", "ndarray"}:                       pyNDArray,
	{"numpy", "dtype"}:                         pyNewDType,
	{"collections", "OrderedDict"}:             pyOrdered,
}

// refuse says that a global is none of these.
func refuse(module, name string) error {
	return fmt.Errorf("asks for the global %s, which is not plain data: refused, nothing was run",
		quote(module+"."+name))
}

// twoLines reads the name of a global.
func (u *unpickler) twoLines() (module, name string, err error) {
	if module, err = u.line(); err == nil {
		name, err = u.line()
	}
	return module, name, err
}

// opGlobal pushes a global named by two lines.
func (u *unpickler) opGlobal() error {
	module, name, err := u.twoLines()
	if err != nil {
		return err
	}
	return u.pushGlobal(module, name)
}

// opInst would make an instance of a class named by two lines; no data needs it.
func (u *unpickler) opInst() error {
	module, name, err := u.twoLines()
	if err != nil {
		return err
	}
	return refuse(module, name)
}

// opStackGlobal pushes a global named by the two strings on top.
func (u *unpickler) opStackGlobal() error {
	t, err := u.popTuple(2)
	if err != nil {
		return err
	}
	module, ok1 := t[0].(string)
	name, ok2 := t[1].(string)
	if !ok1 || !ok2 {
		return errors.New("names a global by what is no text")
	}
	return u.pushGlobal(module, name)
}

// pushGlobal pushes one of the globals that are data.
func (u *unpickler) pushGlobal(module, name string) error {
	g, ok := globals[[2]string{module, name}]
	if !ok {
		return refuse(module, name)
	}
	return u.push(g)
}

// opCall imitates the call of a global.
func (u *unpickler) opCall() error {
	t, err := u.popTuple(2)
	if err != nil {
		return err
	}
	args, ok := t[1].(pyTuple)
	if !ok {
		return fmt.Errorf("calls with %s for arguments", pyName(t[1]))
	}
	callee, ok := t[0].(pyGlobal)
	if !ok {
		return fmt.Errorf("calls %s", pyName(t[0]))
	}
	v, err := u.call(callee, args)
	if err != nil {
		return err
	}
	return u.push(v)
}

// call returns what the global would.
func (u *unpickler) call(callee pyGlobal, args pyTuple) (any, error) {
	switch {
	case callee == pyReconstruct && len(args) == 3 && args[0] == pyNDArray:
		return &pyArray{}, nil
	case callee == pyNewDType && len(args) >= 1:
		if name, ok := args[0].(string); ok && len(name) <= 32 {
			return &pyDType{name: name}, nil
		}
	case callee == pyScalar && len(args) == 2:
		return scalar(args)
	case callee == pyOrdered && len(args) == 0:
		return &pyDict{}, nil
	case callee == pyOrdered && len(args) == 1:
		return u.ordered(args[0])
	}
	return nil, fmt.Errorf("calls %s with arguments that it does not take", string(callee))
}

// scalar returns a numpy scalar as a plain value.
func scalar(args pyTuple) (any, error) {
	d, ok := args[0].(*pyDType)
	if !ok {
		return nil, fmt.Errorf("makes a scalar of %s", pyName(args[0]))
	}
	t, err := d.elem()
	if err != nil {
		return "(" + err.Error() + ")", nil
	}
	data, ok := args[1].(pyBytes)
	if !ok || len(data) != t.size || t.kind == 'O' {
		return nil, fmt.Errorf("makes a %s of %s", t, pyName(args[1]))
	}
	return t.value(data, 0), nil
}

// ordered returns an OrderedDict made from pairs.
func (u *unpickler) ordered(arg any) (any, error) {
	l, ok := arg.(*pyList)
	if !ok {
		return nil, fmt.Errorf("makes a dict of %s", pyName(arg))
	}
	if err := u.spend(2 * len(l.items)); err != nil {
		return nil, err
	}
	d := &pyDict{}
	for _, item := range l.items {
		pair, ok := item.(pyTuple)
		if inner, list := item.(*pyList); list {
			pair, ok = inner.items, true
		}
		if !ok || len(pair) != 2 {
			return nil, errors.New("makes a dict of what are no pairs")
		}
		if err := d.set(pair); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// opBuild sets the state of the object on top.
func (u *unpickler) opBuild() error {
	state, err := u.pop()
	if err != nil {
		return err
	}
	v, err := u.top()
	if err != nil {
		return err
	}
	t, _ := state.(pyTuple)
	switch v := v.(type) {
	case *pyDType:
		if len(t) >= 2 {
			v.order, _ = t[1].(string)
			return nil
		}
	case *pyArray:
		if len(t) == 5 {
			return v.build(t)
		}
	case *pyDict: // attributes of an OrderedDict
		return nil
	}
	return fmt.Errorf("sets a state that %s does not have", pyName(v))
}

// build fills the array from numpy's state: version, shape, dtype, order, data.
func (a *pyArray) build(state pyTuple) (err error) {
	shape, ok1 := state[1].(pyTuple)
	dtype, ok2 := state[2].(*pyDType)
	fortran, ok3 := state[3].(bool)
	if !ok1 || !ok2 || !ok3 {
		return errors.New("array without shape, dtype or order")
	}
	if err := a.setShape(shape); err != nil {
		return err
	}
	*a = pyArray{shape: a.shape, count: a.count}
	switch a.elem, err = dtype.elem(); {
	case err != nil:
		a.note = "(array: " + err.Error() + ")"
		return nil
	case fortran && len(a.shape) > 1:
		a.note = "(array in Fortran order)"
		return nil
	}
	return a.setData(state[4])
}

// setShape takes a shape that is bounded before anything is made of it.
func (a *pyArray) setShape(t pyTuple) error {
	if len(t) > maxDims {
		return fmt.Errorf("array of %d dimensions over limit %d", len(t), maxDims)
	}
	a.shape = make([]int, len(t))
	for i, d := range t {
		n, ok := d.(int64)
		if !ok {
			return fmt.Errorf("array with %s in its shape", pyName(d))
		}
		a.shape[i] = int(n)
	}
	n, err := countElements(a.shape, 1)
	if err == nil && n > maxObjects {
		err = fmt.Errorf("array of %d elements over limit %d", n, maxObjects)
	}
	a.count = int(n)
	return err
}

// setData keeps the elements when they are as many as the shape says.
func (a *pyArray) setData(v any) error {
	have := 0
	if a.elem.kind == 'O' {
		a.items, _ = v.(*pyList)
		if a.items == nil {
			return errors.New("array of objects without its list")
		}
		have = len(a.items.items)
	} else {
		a.data, _ = v.(pyBytes)
		have = len(a.data) / max(a.elem.size, 1)
	}
	if have != a.count {
		return fmt.Errorf("array of shape %s with %d elements", shapeText(a.shape), have)
	}
	return nil
}

// elem returns the element type that the dtype stands for.
func (d *pyDType) elem() (npyType, error) {
	if d.order != ">" {
		return parseType(d.name)
	}
	return parseType(d.order + d.name)
}

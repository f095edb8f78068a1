package dump

import (
	"encoding/binary"
	"strings"
)

// metaItem is one entry of the _metadata dict; its value is an int, an int64, a
// string or a []int.
type metaItem struct {
	key   string
	value any
}

// metadata returns mjlab's dict for d, in the order that the format prescribes.
func (d *Draft) metadata(model string) []metaItem {
	var spec, size, held int
	if s := d.States; s != nil {
		spec, size, held = s.Spec, s.Values.Shape[2], len(s.Steps)
	}
	return []metaItem{
		{"num_envs_total", d.Manifest.NumEnvs},
		{"num_envs_dumped", len(d.Manifest.EnvIDs)},
		{"nan_env_ids", d.Meta.BadEnvIDs},
		{"dumped_env_ids", d.Manifest.EnvIDs},
		{"state_spec", spec},
		{"state_size", size},
		{"buffer_size", held},
		{"detection_step", d.Meta.DetectionStep},
		{"timestamp", d.Meta.Timestamp},
		{"model_file", model},
		{"note", d.Meta.Note},
	}
}

// pickleMetadata returns the pickle of a 0-d object array that holds the dict:
// protocol 3, with the module name that numpy 1 wrote and numpy 2 still loads.
// Opcodes are spelled as in Python's pickletools.
func pickleMetadata(items []metaItem) []byte {
	p := pickler("\x80\x03") // PROTO 3
	p.op("cnumpy.core.multiarray\n_reconstruct\n")
	p.op("cnumpy\nndarray\n")
	p.op("K\x00\x85")   // (0,)
	p.op("C\x01b\x87R") // _reconstruct(ndarray, (0,), b"b")
	p.op("(K\x01)")     // the array's state: version 1, shape ()
	p.op("cnumpy\ndtype\n")
	p.str("O8")
	p.op("\x89\x88\x87R") // dtype("O8", False, True)
	p.op("(K\x03")        // the dtype's state: version 3
	p.str("|")
	p.op("NNN") // no subtype, names or fields
	p.int(-1)
	p.int(-1)
	p.op("K\x3ftb") // flags of an object dtype; BUILD the dtype
	p.op("\x89]")   // not in Fortran order; the list of elements
	p.op("}(")
	for _, it := range items {
		p.str(it.key)
		p.value(it.value)
	}
	p.op("uatb.") // SETITEMS, APPEND, TUPLE, BUILD, STOP
	return p
}

// pickler appends pickle opcodes.
type pickler []byte

func (p *pickler) op(code string) { *p = append(*p, code...) }

// value writes one value of the dict.
func (p *pickler) value(v any) {
	switch v := v.(type) {
	case int:
		p.int(int64(v))
	case int64:
		p.int(v)
	case string:
		p.str(v)
	case []int:
		p.op("](")
		for _, n := range v {
			p.int(int64(n))
		}
		p.op("e") // APPENDS
	}
}

// int writes an integer: BININT where it fits, LONG1 of eight bytes beyond.
func (p *pickler) int(n int64) {
	if n == int64(int32(n)) {
		*p = binary.LittleEndian.AppendUint32(append(*p, 'J'), uint32(n))
		return
	}
	*p = binary.LittleEndian.AppendUint64(append(*p, "\x8a\x08"...), uint64(n))
}

// str writes a string as BINUNICODE; bytes that are not UTF-8 become U+FFFD.
func (p *pickler) str(s string) {
	s = strings.ToValidUTF8(s, "\ufffd")
	*p = binary.LittleEndian.AppendUint32(append(*p, 'X'), uint32(len(s)))
	*p = append(*p, s...)
}

package script

import (
	"strconv"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Values come in from bytes and go out as bytes. What comes in is frozen, so
// that it is the same on first delivery and whenever the script runs again.

// enter makes a value of canonical bytes.
func (r *run) enter(raw value.Raw) (starlark.Value, *failure.Failure) {
	r.values += len(raw)
	if f := r.meter.Scan(uint64(len(raw))); f != nil {
		return nil, f
	}
	rd := value.NewReader(raw)
	return r.read(&rd)
}

// read recurses as deep as the value, which is at most 64.
func (r *run) read(rd *value.Reader) (starlark.Value, *failure.Failure) {
	switch rd.Kind() {
	case value.NullKind:
		rd.ReadNull()
		return starlark.None, nil
	case value.BoolKind:
		b, _ := rd.ReadBool()
		return starlark.Bool(b), nil
	case value.IntKind:
		n, _ := rd.ReadInt()
		return starlark.MakeInt64(n), nil
	case value.FloatKind:
		n, _ := rd.ReadFloat()
		return starlark.Float(n), nil
	case value.StringKind:
		s, _ := rd.ReadText()
		return starlark.String(s), r.meter.Alloc(textBytes + uint64(len(s)))
	case value.ListKind:
		return r.readList(rd)
	case value.MapKind:
		return r.readMap(rd)
	}
	panic("script: bytes that are no value")
}

func (r *run) readList(rd *value.Reader) (starlark.Value, *failure.Failure) {
	n, _ := rd.ReadListHeader()
	if f := r.allocList(n); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, n)
	for i := range items {
		var f *failure.Failure
		if items[i], f = r.read(rd); f != nil {
			return nil, f
		}
	}
	list := starlark.NewList(items)
	list.Freeze() // its items are frozen: this goes no deeper than they do
	return list, nil
}

func (r *run) readMap(rd *value.Reader) (starlark.Value, *failure.Failure) {
	n, _ := rd.ReadMapHeader()
	if f := r.allocDict(n); f != nil {
		return nil, f
	}
	d := newDict(int(n))
	for range n {
		name, _ := rd.ReadString()
		v, f := r.read(rd)
		if f != nil {
			return nil, f
		}
		d.set(key{kind: textKey, text: name}, starlark.String(name), v)
	}
	d.frozen = true
	return d, nil
}

// allocList charges for a list of n items.
func (r *run) allocList(n uint64) *failure.Failure {
	if n > MaxItems {
		return &failure.Failure{Code: failure.ValueTooLarge, Message: "a list has at most 65536 items"}
	}
	if f := r.meter.Alloc(listBytes + n*slotBytes); f != nil {
		return f
	}
	return r.meter.Visit(n)
}

// allocDict charges for a dict of n entries.
func (r *run) allocDict(n uint64) *failure.Failure {
	if n > MaxItems {
		return &failure.Failure{Code: failure.ValueTooLarge, Message: dictFullRule}
	}
	if f := r.meter.Alloc(listBytes + n*entryBytes); f != nil {
		return f
	}
	return r.meter.Charge(n)
}

// leave makes bytes of a value, at most maxBytes; what names it in a message.
func (r *run) leave(v starlark.Value, maxBytes uint32, what string) (value.Raw, *failure.Failure) {
	w := leaving{r: r, most: int(maxBytes), what: what}
	w.value(v, 0)
	if w.wrong != nil {
		return nil, w.wrong
	}
	r.values += len(w.dst)
	return w.dst, r.meter.Scan(uint64(len(w.dst)))
}

// leaving writes one value and stops at the first failure.
type leaving struct {
	r     *run
	dst   []byte
	most  int
	what  string
	wrong *failure.Failure
}

func (w *leaving) fail(code failure.Code, words string) {
	if w.wrong == nil {
		w.wrong = &failure.Failure{Code: code, Message: w.what + words}
	}
}

// begin charges for looking at one more value, and checks the bounds.
func (w *leaving) begin(size, depth int) bool {
	switch {
	case w.wrong != nil:
		return false
	case depth > MaxDepth:
		w.fail(failure.ValueTooLarge, " is nested deeper than 64")
	case len(w.dst)+size > w.most:
		w.fail(failure.ValueTooLarge, " is larger than "+strconv.Itoa(w.most)+" bytes")
	default:
		w.wrong = w.r.meter.Visit(8)
	}
	return w.wrong == nil
}

func (w *leaving) value(v starlark.Value, depth int) {
	if !w.begin(1, depth) {
		return
	}
	switch v := v.(type) {
	case starlark.NoneType:
		w.dst = value.AppendNull(w.dst)
	case starlark.Bool:
		w.dst = value.AppendBool(w.dst, bool(v))
	case starlark.Int:
		n, ok := v.Int64()
		if !ok || n > value.MaxInt || n < -value.MaxInt {
			w.fail(failure.ValueTooLarge, " holds an integer beyond 2^53; str(x) keeps all its digits as text")
			return
		}
		w.dst = value.AppendInt(w.dst, n)
	case starlark.Float:
		w.dst = value.AppendFloat(w.dst, float64(v))
	case starlark.String:
		if w.begin(len(v), depth) {
			w.dst = value.AppendString(w.dst, string(v))
		}
	case *starlark.List:
		w.list(v, depth)
	case starlark.Tuple:
		w.list(v, depth)
	case *span:
		w.list(spanList{v}, depth)
	case *dict:
		w.dict(v, depth)
	case *result:
		w.dict(v.asDict(), depth)
	default:
		w.fail(failure.EvalFailure, " is, or holds, a "+v.Type()+", which is no data")
	}
}

// spanList lets a range be written as a list.
type spanList struct{ *span }

func (s spanList) Index(i int) starlark.Value { return s.at(i) }

type listed interface {
	Len() int
	Index(i int) starlark.Value
}

func (w *leaving) list(v listed, depth int) {
	if depth >= MaxDepth {
		w.fail(failure.ValueTooLarge, " is nested deeper than 64")
		return
	}
	if !w.begin(v.Len(), depth) {
		return
	}
	w.dst = value.AppendListHeader(w.dst, uint64(v.Len()))
	for i := 0; i < v.Len() && w.wrong == nil; i++ {
		w.value(v.Index(i), depth+1)
	}
}

func (w *leaving) dict(d *dict, depth int) {
	if depth >= MaxDepth {
		w.fail(failure.ValueTooLarge, " is nested deeper than 64")
		return
	}
	if !w.begin(2*d.Len(), depth) {
		return
	}
	if w.wrong = w.r.allocList(uint64(d.Len())); w.wrong != nil {
		return
	}
	names := make([]string, 0, d.Len())
	for _, e := range d.entries {
		if e.key == nil {
			continue
		}
		name, ok := e.key.(starlark.String)
		if !ok {
			w.fail(failure.EvalFailure, " holds a dict whose keys are not all text")
			return
		}
		names = append(names, string(name))
	}
	if w.wrong = w.r.meter.Charge(uint64(len(names))); w.wrong != nil { // for putting them in order
		return
	}
	value.SortKeys(names)
	w.dst = value.AppendMapHeader(w.dst, uint64(len(names)))
	for _, name := range names {
		if !w.begin(len(name), depth) {
			return
		}
		w.dst = value.AppendString(w.dst, name)
		v, _ := d.get(key{kind: textKey, text: name})
		w.value(v, depth+1)
	}
}

// asDict is a result where data is wanted.
func (r *result) asDict() *dict {
	d := newDict(4)
	for _, name := range [...]string{"ok", "value", "code", "message"} {
		v, _ := r.member(name)
		d.put(starlark.String(name), v)
	}
	return d
}

// own makes a value for package expr, which knows numbers, text, and lists and
// maps that never change.
func (r *run) own(v starlark.Value) (starlark.Value, *failure.Failure) {
	switch v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String:
		return v, nil
	}
	raw, f := r.leave(v, MaxValueBytes, "the value")
	if f != nil {
		return nil, f
	}
	if f := r.meter.Alloc(4 * uint64(len(raw))); f != nil {
		return nil, f
	}
	if f := r.meter.Scan(4 * uint64(len(raw))); f != nil {
		return nil, f
	}
	return expr.FromRaw(raw), nil
}

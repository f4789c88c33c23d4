package expr

import (
	"bytes"
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Template is data whose texts may hold expressions as ${…}. It is immutable,
// like Expr.
//
// A text that is exactly one ${…} has the expression's value, of whatever
// kind. In any other text each ${…} is replaced by what str(x) gives for its
// value. $${ is a literal ${, and any other $ is itself. Keys of maps are
// literal.
type Template struct {
	root     node
	constant bool
}

// CompileTemplate compiles a canonical value. field is the path of the value
// in the program, "payload.args"; a refusal's Field, and the beginning of a
// failure's message, is the path of the text that the expression stands in.
// Refusals are as Compile's.
func CompileTemplate(raw value.Raw, field string) (*Template, *failure.Refusal) {
	root, refused := compileTemplate(raw, field)
	if refused != nil {
		return nil, refused
	}
	_, constant := root.(*constant)
	return &Template{root, constant}, nil
}

// Constant tells whether the template holds no expression: then Eval gives the
// same value every time.
func (t *Template) Constant() bool { return t.constant }

// Eval evaluates all expressions in order (list items, then members in
// canonical order), as Expr.Eval does, and builds the value, at most
// MaxValueBytes where there is any expression in it.
func (t *Template) Eval(env Env, m *Meter) (starlark.Value, *failure.Failure) {
	return m.run(env, t.root)
}

const opening = "${"

// compileTemplate recurses as deep as the value, which is at most 64.
func compileTemplate(raw value.Raw, path string) (node, *failure.Refusal) {
	if !bytes.Contains(raw, []byte(opening)) {
		return &constant{value: FromRaw(raw)}, nil
	}
	r := value.NewReader(raw)
	switch raw.Kind() {
	case value.ListKind:
		return templateList(r, path)
	case value.MapKind:
		return templateMap(r, path)
	}
	text, _ := r.ReadString()
	return templateText(text, path)
}

func templateList(r value.Reader, path string) (node, *failure.Refusal) {
	count, _ := r.ReadListHeader()
	n := &listNode{}
	for i := range count {
		item, refused := compileTemplate(r.Skip(), path+value.JoinItem(i, ""))
		if refused != nil {
			return nil, refused
		}
		n.items = append(n.items, item)
	}
	return n.folded(), nil
}

func templateMap(r value.Reader, path string) (node, *failure.Refusal) {
	count, _ := r.ReadMapHeader()
	n := &mapNode{}
	for range count {
		key, _ := r.ReadString()
		item, refused := compileTemplate(r.Skip(), joinPath(path, key))
		if refused != nil {
			return nil, refused
		}
		n.keys = append(n.keys, &constant{value: starlark.String(key)})
		n.values = append(n.values, item)
	}
	return n.folded(), nil
}

// folded is a constant if all items are: a text with $${ only, say.
func (n *listNode) folded() node {
	items := make([]starlark.Value, len(n.items))
	var s sum
	for i, item := range n.items {
		c, ok := item.(*constant)
		if !ok {
			return n
		}
		items[i] = c.value
		s.add(shapeOf(c.value))
	}
	return &constant{value: &List{items, s.container(len(items))}}
}

// folded is a constant if all values are.
func (n *mapNode) folded() node {
	members := make([]member, len(n.keys))
	var s sum
	for i, v := range n.values {
		c, ok := v.(*constant)
		if !ok {
			return n
		}
		key := string(n.keys[i].(*constant).value.(starlark.String))
		members[i] = member{key, c.value}
		s.size += uint64(textSize(uint64(len(key))))
		s.add(shapeOf(c.value))
	}
	return &constant{value: &Map{members, s.container(len(members))}}
}

// templateText compiles one text.
func templateText(s, path string) (node, *failure.Refusal) {
	var (
		n     textNode
		plain strings.Builder
		exprs int
	)
	flush := func() {
		if plain.Len() > 0 {
			n.pieces = append(n.pieces, &constant{value: starlark.String(plain.String())})
			plain.Reset()
		}
	}
	for s != "" {
		at := strings.Index(s, opening)
		if at < 0 {
			plain.WriteString(s)
			break
		}
		if at > 0 && s[at-1] == '$' {
			plain.WriteString(s[:at-1] + opening)
			s = s[at+len(opening):]
			continue
		}
		plain.WriteString(s[:at])
		flush()
		e, rest, refused := templateExpr(s[at+len(opening):], path)
		if refused != nil {
			return nil, refused
		}
		n.pieces = append(n.pieces, e)
		exprs++
		s = rest
	}
	flush()
	switch {
	case exprs == 0 && len(n.pieces) == 0:
		return &constant{value: starlark.String("")}, nil
	case len(n.pieces) == 1: // one expression, or one literal text
		return n.pieces[0], nil
	}
	return &n, nil
}

// templateExpr compiles the expression that s begins with, and returns what
// follows its closing brace.
func templateExpr(s, path string) (e *Expr, rest string, refused *failure.Refusal) {
	end, p := lex(s, true)
	if p != nil {
		refused = p.refusal(s)
	} else {
		e, refused = Compile(s[:end])
	}
	if refused != nil {
		refused.Field = failure.Clip(path)
		return nil, "", refused
	}
	e.path = path
	if len(e.path) > maxPath {
		e.path = ""
	}
	return e, s[end+1:], nil
}

// maxPath bounds the path in a failure's message in bytes; a longer one is left
// out, since the failure names the instruction anyway.
const maxPath = 128

// joinPath puts a key behind a path.
func joinPath(path, key string) string {
	part := value.JoinKey(key, "")
	if path == "" || part[0] == '[' {
		return path + part
	}
	return path + "." + part
}

// textNode joins pieces as text.
type textNode struct {
	place
	pieces []node
}

func (n *textNode) eval(m *Meter) (starlark.Value, *failure.Failure) {
	w := writer{m: m}
	for _, piece := range n.pieces {
		v, f := m.eval(piece)
		if f != nil {
			return nil, f
		}
		if w.value(v); w.problem != nil {
			break
		}
	}
	return w.finish()
}

package expr

import (
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// compiler rewrites a syntax tree into nodes. It lets through what it knows,
// refuses everything else, resolves loop variables to slots, and bounds the
// depth as it goes, so that nothing after it recurses deeper.
type compiler struct {
	depth int
	scope []scoped
	slots int
	wrong *failure.Refusal // the first one
}

type scoped struct {
	name string
	slot int
}

// refuse keeps the first refusal. It returns a node, so that callers go on to
// their end without asking.
func (c *compiler) refuse(pos syntax.Position, rule, hint string) node {
	if c.wrong == nil {
		c.wrong = placeOf(pos).refuse(rule, hint)
	}
	return &constant{value: starlark.None}
}

// expr compiles one node of the tree.
func (c *compiler) expr(e syntax.Expr) node {
	if c.wrong != nil {
		return &constant{value: starlark.None}
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > MaxTreeDepth {
		return c.refuse(leftmost(e), "the expression is nested deeper than 200", "")
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return c.literal(e)
	case *syntax.Ident:
		return c.name(e)
	case *syntax.ParenExpr:
		return c.expr(e.X)
	case *syntax.DotExpr:
		return &access{placeOf(e.Name.NamePos), c.expr(e.X), e.Name.Name}
	case *syntax.IndexExpr:
		return &indexing{placeOf(e.Lbrack), c.expr(e.X), c.expr(e.Y)}
	case *syntax.SliceExpr:
		return &slicing{placeOf(e.Lbrack), c.expr(e.X), c.optional(e.Lo), c.optional(e.Hi), c.optional(e.Step)}
	case *syntax.CallExpr:
		return c.call(e)
	case *syntax.ListExpr:
		return &listNode{placeOf(e.Lbrack), c.exprs(e.List)}
	case *syntax.TupleExpr:
		return &listNode{placeOf(leftmost(e)), c.exprs(e.List)}
	case *syntax.DictExpr:
		return c.dict(e)
	case *syntax.Comprehension:
		return c.comprehension(e)
	case *syntax.CondExpr:
		return &choice{placeOf(e.If), c.expr(e.Cond), c.expr(e.True), c.expr(e.False)}
	case *syntax.UnaryExpr:
		return c.unary(e)
	case *syntax.BinaryExpr:
		return c.binary(e)
	}
	return c.refuse(leftmost(e), "this is not offered in an expression", "")
}

// leftmost is a position near e, found without walking down a spine.
func leftmost(e syntax.Expr) syntax.Position {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return e.OpPos
	case *syntax.DotExpr:
		return e.Dot
	case *syntax.IndexExpr:
		return e.Lbrack
	case *syntax.SliceExpr:
		return e.Lbrack
	case *syntax.CallExpr:
		return e.Lparen
	case *syntax.CondExpr:
		return e.If
	case *syntax.TupleExpr:
		if len(e.List) > 0 {
			return leftmost(e.List[0])
		}
		return e.Lparen
	}
	return syntax.Start(e)
}

func (c *compiler) exprs(list []syntax.Expr) []node {
	nodes := make([]node, len(list))
	for i, e := range list {
		nodes[i] = c.expr(e)
	}
	return nodes
}

func (c *compiler) optional(e syntax.Expr) node {
	if e == nil {
		return nil
	}
	return c.expr(e)
}

func (c *compiler) literal(e *syntax.Literal) node {
	n := &constant{place: placeOf(e.TokenPos)}
	switch e.Token {
	case syntax.STRING:
		n.value = starlark.String(e.Value.(string))
	case syntax.FLOAT:
		n.value, _ = number(e.Value.(float64)) // the parser refuses infinities
	case syntax.INT:
		if small, ok := e.Value.(int64); ok {
			n.value = starlark.MakeInt64(small)
			break
		}
		big := e.Value.(*big.Int)
		if big.BitLen() > MaxIntBits {
			return c.refuse(e.TokenPos, "an integer has at most 4096 bits", "")
		}
		n.value = starlark.MakeBigInt(big)
	default:
		return c.refuse(e.TokenPos, "there are no byte strings", "leave the b away")
	}
	return n
}

// constants are names with a fixed meaning. JSON's spellings are there too.
var constants = map[string]starlark.Value{
	"None": starlark.None, "True": starlark.True, "False": starlark.False,
	"null": starlark.None, "true": starlark.True, "false": starlark.False,
}

func (c *compiler) name(e *syntax.Ident) node {
	at := placeOf(e.NamePos)
	if v, ok := constants[e.Name]; ok {
		return &constant{at, v}
	}
	for i := len(c.scope) - 1; i >= 0; i-- {
		if c.scope[i].name == e.Name {
			return &local{at, c.scope[i].slot}
		}
	}
	return &variable{at, e.Name}
}

func (c *compiler) dict(e *syntax.DictExpr) node {
	n := &mapNode{place: placeOf(e.Lbrace)}
	for _, entry := range e.List {
		entry, ok := entry.(*syntax.DictEntry)
		if !ok {
			return c.refuse(e.Lbrace, "a map has key: value pairs", "")
		}
		n.keys = append(n.keys, c.expr(entry.Key))
		n.values = append(n.values, c.expr(entry.Value))
	}
	return n
}

func (c *compiler) unary(e *syntax.UnaryExpr) node {
	at := placeOf(e.OpPos)
	switch e.Op {
	case syntax.NOT:
		return &negation{at, c.expr(e.X)}
	case syntax.MINUS, syntax.PLUS, syntax.TILDE:
		return &sign{at, e.Op, c.expr(e.X)}
	}
	return c.refuse(e.OpPos, "this is not offered in an expression", "")
}

func (c *compiler) binary(e *syntax.BinaryExpr) node {
	at := placeOf(e.OpPos)
	switch e.Op {
	case syntax.AND, syntax.OR:
		return &both{at, e.Op == syntax.OR, c.expr(e.X), c.expr(e.Y)}
	case syntax.PERCENT:
		if tuple := tupleIn(e.Y); tuple != nil {
			return &spread{at, c.expr(e.X), c.exprs(tuple.List)}
		}
	case syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH,
		syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.IN, syntax.NOT_IN,
		syntax.PIPE, syntax.AMP, syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT:
	default:
		return c.refuse(e.OpPos, "there is no operator "+e.Op.String(), "")
	}
	return &operation{at, e.Op, c.expr(e.X), c.expr(e.Y)}
}

// tupleIn is the tuple that e is written as, if it is one.
func tupleIn(e syntax.Expr) *syntax.TupleExpr {
	if paren, ok := e.(*syntax.ParenExpr); ok {
		e = paren.X
	}
	tuple, _ := e.(*syntax.TupleExpr)
	return tuple
}

func (c *compiler) comprehension(e *syntax.Comprehension) node {
	outer := len(c.scope)
	defer func() { c.scope = c.scope[:outer] }()
	n := &comprehension{place: placeOf(e.Lbrack)}
	for _, part := range e.Clauses {
		switch part := part.(type) {
		case *syntax.ForClause:
			x := c.expr(part.X) // does not see the variables of its own clause
			n.clauses = append(n.clauses, clause{target: c.target(part.Vars), x: x})
		case *syntax.IfClause:
			n.clauses = append(n.clauses, clause{condition: c.expr(part.Cond)})
		}
	}
	if entry, ok := e.Body.(*syntax.DictEntry); ok {
		n.key, n.body = c.expr(entry.Key), c.expr(entry.Value)
	} else {
		n.body = c.expr(e.Body)
	}
	return n
}

// target compiles loop variables: a name, or several.
func (c *compiler) target(e syntax.Expr) *target {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return c.target(e.X)
	case *syntax.Ident:
		if _, fixed := constants[e.Name]; fixed {
			break
		}
		t := &target{slot: c.slots}
		c.scope = append(c.scope, scoped{e.Name, c.slots})
		c.slots++
		return t
	case *syntax.TupleExpr:
		return c.targets(e.List)
	case *syntax.ListExpr:
		return c.targets(e.List)
	}
	c.refuse(leftmost(e), "a loop variable is a name", "")
	return nil
}

func (c *compiler) targets(list []syntax.Expr) *target {
	t := &target{parts: []*target{}}
	for _, e := range list {
		t.parts = append(t.parts, c.target(e))
	}
	return t
}

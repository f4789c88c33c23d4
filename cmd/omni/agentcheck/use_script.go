package agentcheck

import (
	"math/big"

	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
)

// scriptOf reads a script that the kernel's compiler has taken into its tree; nil when
// the program is none.
func scriptOf(source string) *syntax.File {
	options := &syntax.FileOptions{TopLevelControl: true, GlobalReassign: true}
	file, err := options.Parse(script.Name, source, 0)
	if err != nil {
		return nil
	}
	return file
}

// position of a node in the script.
func position(n syntax.Node) where {
	start, _ := n.Span()
	return where{field: "program", line: int(start.Line), column: int(start.Col)}
}

// called is the name of a builtin that an expression calls, if it calls one.
func called(n syntax.Node) (*syntax.CallExpr, string) {
	call, ok := n.(*syntax.CallExpr)
	if !ok {
		return nil, ""
	}
	name, ok := call.Fn.(*syntax.Ident)
	if !ok {
		return nil, ""
	}
	return call, name.Name
}

// scriptUses finds every call of a builtin that asks for a tool.
func scriptUses(file *syntax.File) (uses []use) {
	syntax.Walk(file, func(n syntax.Node) bool {
		call, name := called(n)
		if call == nil {
			return true
		}
		args := argsOf(call)
		u := use{at: position(call), known: map[string]any{}, whole: true}
		switch name {
		case "call":
			u.tool, _ = literal(args.at(0, "tool")).(string)
			u.read(args.at(1, "args"))
		case "gather":
			uses = append(uses, gathered(args.at(0, "calls"))...)
			return true
		case "sleep":
			u.tool = "timer.sleep"
		case "receive":
			u.tool = "mailbox.receive"
		case "delegate":
			u.tool = "agent.delegate"
		case "recall":
			u.tool = "memory.read"
			u.names(args, map[string]int{"key": 0, "namespace": 2, "agent": 3})
		case "remember":
			u.tool = "memory.write"
			u.names(args, map[string]int{"key": 0, "namespace": 3})
		}
		if u.tool != "" {
			uses = append(uses, u)
		}
		return true
	})
	return uses
}

// gathered are the calls of a list that is written out.
func gathered(e syntax.Expr) (uses []use) {
	list, ok := e.(*syntax.ListExpr)
	if !ok {
		return nil
	}
	for _, item := range list.List {
		u := use{at: position(item), known: map[string]any{}, whole: true}
		if paren, ok := item.(*syntax.ParenExpr); ok {
			item = paren.X
		}
		switch item := item.(type) {
		case *syntax.TupleExpr:
			if len(item.List) > 0 {
				u.tool, _ = literal(item.List[0]).(string)
			}
			if len(item.List) > 1 {
				u.read(item.List[1])
			}
		case *syntax.DictExpr:
			for _, entry := range item.List {
				pair := entry.(*syntax.DictEntry)
				switch literal(pair.Key) {
				case "tool":
					u.tool, _ = literal(pair.Value).(string)
				case "args":
					u.read(pair.Value)
				}
			}
		}
		if u.tool != "" {
			uses = append(uses, u)
		}
	}
	return uses
}

// read takes what is written out of a call's arguments.
func (u *use) read(e syntax.Expr) {
	if e == nil {
		return
	}
	d, ok := e.(*syntax.DictExpr)
	if !ok {
		u.whole = false
		return
	}
	for _, entry := range d.List {
		pair := entry.(*syntax.DictEntry)
		name, isText := literal(pair.Key).(string)
		v := literal(pair.Value)
		if !isText || v == nil {
			u.whole = false
			continue
		}
		u.known[name] = v
	}
}

// names takes arguments by their names in a call of the kernel's memory. A namespace
// makes it shared memory's.
func (u *use) names(args arguments, places map[string]int) {
	for name, place := range places {
		e := args.at(place, name)
		if e == nil {
			continue
		}
		if name == "namespace" {
			if ident, ok := e.(*syntax.Ident); !ok || ident.Name != "None" {
				u.tool = "shared." + u.tool[len("memory."):]
			}
		}
		if v := literal(e); v != nil {
			u.known[name] = v
		} else {
			u.whole = false
		}
	}
}

// arguments of a call, by place or by name.
type arguments struct {
	places []syntax.Expr
	names  map[string]syntax.Expr
}

func argsOf(call *syntax.CallExpr) arguments {
	a := arguments{names: make(map[string]syntax.Expr)}
	for _, arg := range call.Args {
		if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
			if name, ok := named.X.(*syntax.Ident); ok {
				a.names[name.Name] = named.Y
				continue
			}
		}
		a.places = append(a.places, arg)
	}
	return a
}

func (a arguments) at(place int, name string) syntax.Expr {
	if e, ok := a.names[name]; ok {
		return e
	}
	if place < len(a.places) {
		return a.places[place]
	}
	return nil
}

// literal is the value of an expression that is a text, an integer or a boolean as it
// stands there; nil for any other.
func literal(e syntax.Expr) any {
	switch e := e.(type) {
	case *syntax.Literal:
		switch v := e.Value.(type) {
		case string, int64:
			return v
		case *big.Int:
			return v
		}
	case *syntax.ParenExpr:
		return literal(e.X)
	case *syntax.Ident:
		switch e.Name {
		case "True":
			return true
		case "False":
			return false
		}
	}
	return nil
}

package expr

import (
	"slices"

	"go.starlark.net/syntax"
)

// call compiles name(…) and x.name(…). What is called is known by now, so
// unknown names and wrong counts are refused here.
func (c *compiler) call(e *syntax.CallExpr) node {
	switch fn := e.Fn.(type) {
	case *syntax.Ident:
		function, ok := functions[fn.Name]
		if !ok {
			return c.refuse(fn.NamePos, "there is no function "+quoted(fn.Name), absent[fn.Name])
		}
		return &call{placeOf(fn.NamePos), function, fn.Name, c.arguments(fn.Name, function, e)}
	case *syntax.DotExpr:
		return c.methodCall(fn, e)
	}
	return c.refuse(e.Lparen, "only functions and methods can be called, by name", "")
}

func (c *compiler) methodCall(fn *syntax.DotExpr, e *syntax.CallExpr) node {
	name, at := fn.Name.Name, fn.Name.NamePos
	if instead, ok := changing[name]; ok {
		return c.refuse(at, "values do not change, so there is no method "+name, "write "+instead)
	}
	method, ok := methods[name]
	if !ok {
		return c.refuse(at, "there is no method "+quoted(name), "")
	}
	x := c.expr(fn.X)
	if name == "format" {
		return c.format(placeOf(at), x, e)
	}
	return &methodCall{placeOf(at), x, method, name, c.arguments(name, method.any(), e)}
}

// arguments puts the arguments in the order of the parameters, nil where an
// optional one is left out.
func (c *compiler) arguments(name string, function *function, e *syntax.CallExpr) []node {
	args := []node{}
	for _, arg := range e.Args {
		if c.unpacks(arg) {
			return nil
		}
		key, value, named := namedArgument(arg)
		if !named {
			args = append(args, c.expr(arg))
			continue
		}
		i := slices.Index(function.params, key.Name)
		if i < 0 {
			c.refuse(key.NamePos, name+" has no parameter "+quoted(key.Name), "")
			return nil
		}
		for len(args) <= i {
			args = append(args, nil)
		}
		if args[i] != nil {
			c.refuse(key.NamePos, name+" got "+key.Name+" twice", "")
			return nil
		}
		args[i] = c.expr(value)
	}
	if rule := function.arity(name, len(args)); rule != "" {
		c.refuse(e.Lparen, rule, "")
		return nil
	}
	for i := range function.required {
		if args[i] == nil {
			c.refuse(e.Lparen, name+" needs "+function.params[i], "")
			return nil
		}
	}
	return args
}

// unpacks refuses *list and **map as arguments.
func (c *compiler) unpacks(arg syntax.Expr) bool {
	star, ok := arg.(*syntax.UnaryExpr)
	if !ok || (star.Op != syntax.STAR && star.Op != syntax.STARSTAR) {
		return false
	}
	c.refuse(star.OpPos, "arguments cannot be taken from a list or a map with "+star.Op.String(), "")
	return true
}

// namedArgument takes name=value apart.
func namedArgument(arg syntax.Expr) (key *syntax.Ident, value syntax.Expr, named bool) {
	pair, ok := arg.(*syntax.BinaryExpr)
	if !ok || pair.Op != syntax.EQ {
		return nil, nil, false
	}
	key, ok = pair.X.(*syntax.Ident)
	return key, pair.Y, ok
}

// format compiles x.format(a, b, name=c), which takes arguments of any name.
func (c *compiler) format(at place, x node, e *syntax.CallExpr) node {
	n := &formatCall{place: at, x: x}
	for _, arg := range e.Args {
		if c.unpacks(arg) {
			return n
		}
		key, value, named := namedArgument(arg)
		if named {
			if slices.Contains(n.names, key.Name) {
				return c.refuse(key.NamePos, "format got "+quoted(key.Name)+" twice", "")
			}
			n.names = append(n.names, key.Name)
			arg = value
		} else if len(n.names) > 0 {
			return c.refuse(leftmost(arg), "format takes values without a name first", "")
		}
		n.args = append(n.args, c.expr(arg))
	}
	return n
}

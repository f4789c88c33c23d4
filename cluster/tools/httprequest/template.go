package httprequest

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// part of a template: a text that is fixed, or the name of an argument.
type part struct{ text, argument string }

// pair is a member of the query.
type pair struct {
	name string
	text []part
}

// parts takes a template apart at its {names}.
func parts(template string) (list []part, broken string) {
	for template != "" {
		before, rest, open := strings.Cut(template, "{")
		if strings.Contains(before, "}") {
			return nil, "has a } without a {"
		}
		if before != "" {
			list = append(list, part{text: before})
		}
		if !open {
			return list, ""
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || name == "" || strings.Contains(name, "{") {
			return nil, "must name an argument between { and }"
		}
		list = append(list, part{argument: name})
		template = after
	}
	return list, ""
}

// argumentIn is the name in a text that is nothing but {name}.
func argumentIn(text string) (name string, ok bool) {
	list, broken := parts(text)
	if broken != "" || len(list) != 1 || list[0].argument == "" {
		return "", false
	}
	return list[0].argument, true
}

// address fills the template. Arguments stand in it escaped, and cannot change what
// it is apart from them; what a server might take for structure after it has undone
// the escapes is refused.
func (c *config) address(args value.Raw) (string, *failure.Failure) {
	var b strings.Builder
	b.WriteString(c.origin)
	for _, p := range c.path {
		if p.argument == "" {
			b.WriteString(p.text)
			continue
		}
		text, given, refused := plain(args, p.argument)
		switch {
		case refused != nil:
			return "", refused
		case !given || text == "":
			return "", invalid(p.argument + " is missing: it is part of the URL")
		case text == "." || text == ".." || strings.ContainsAny(text, `/\%;`):
			return "", invalid(p.argument + ` must not be . or .. nor have one of / \ % ; in it: it is part of the URL's path`)
		}
		b.WriteString(url.PathEscape(text))
	}
	separator := byte('?')
	for i := range c.query {
		text, given, refused := c.query[i].fill(args)
		if refused != nil {
			return "", refused
		}
		if !given {
			continue // an argument that is not there leaves its member out
		}
		b.WriteByte(separator)
		separator = '&'
		b.WriteString(c.query[i].name)
		b.WriteByte('=')
		b.WriteString(text)
	}
	return b.String(), nil
}

func (p *pair) fill(args value.Raw) (text string, given bool, refused *failure.Failure) {
	var b strings.Builder
	for _, one := range p.text {
		if one.argument == "" {
			b.WriteString(one.text)
			continue
		}
		text, given, refused := plain(args, one.argument)
		if refused != nil || !given {
			return "", false, refused
		}
		b.WriteString(url.QueryEscape(text))
	}
	return b.String(), true, nil
}

// plain is an argument as the text that stands in a URL.
func plain(args value.Raw, name string) (text string, given bool, refused *failure.Failure) {
	raw, ok := args.Get(name)
	if !ok {
		return "", false, nil
	}
	if n, ok := raw.Int(); ok {
		return strconv.FormatInt(n, 10), true, nil
	}
	if yes, ok := raw.Bool(); ok {
		return strconv.FormatBool(yes), true, nil
	}
	text, ok = raw.Text()
	if !ok {
		return "", false, invalid(name + " must be a text, an integer or a boolean: it is part of the URL")
	}
	for i := range len(text) {
		if text[i] < 0x20 || text[i] == 0x7f {
			return "", false, invalid(name + " must not have a control character: it is part of the URL")
		}
	}
	return text, true, nil
}

package edn_test

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// keyword is a name such as :ok, without its colon.
type keyword string

// reader reads the part of EDN that a history may use, and refuses the rest.
type reader struct {
	text string
	at   int
}

// readAll reads all elements of a text.
func readAll(text string) (all []any, err error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("no UTF-8")
	}
	r := &reader{text: text}
	defer func() {
		if said := recover(); said != nil {
			err = fmt.Errorf("at %d: %v", r.at, said)
		}
	}()
	for r.skip(); r.at < len(r.text); r.skip() {
		all = append(all, r.element())
	}
	return all, nil
}

func (r *reader) skip() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n,", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *reader) peek() byte {
	if r.at >= len(r.text) {
		panic("the end")
	}
	return r.text[r.at]
}

func (r *reader) element() any {
	switch r.peek() {
	case '{':
		return r.pairs()
	case '[':
		return r.list(']')
	case '"':
		return r.quoted()
	}
	from := r.at
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n,{}[]()\";\\#", r.text[r.at]) < 0 {
		r.at++
	}
	return r.atom(r.text[from:r.at])
}

func (r *reader) list(end byte) []any {
	r.at++
	all := []any{}
	for r.skip(); r.peek() != end; r.skip() {
		all = append(all, r.element())
	}
	r.at++
	return all
}

func (r *reader) pairs() map[any]any {
	all := r.list('}')
	if len(all)%2 != 0 {
		panic("a key without a value")
	}
	m := make(map[any]any)
	for i := 0; i < len(all); i += 2 {
		if _, twice := m[all[i]]; twice {
			panic(fmt.Sprintf("%v twice", all[i]))
		}
		m[all[i]] = all[i+1]
	}
	return m
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '"': '"'}

func (r *reader) quoted() string {
	var out strings.Builder
	for r.at++; r.peek() != '"'; r.at++ {
		c := r.text[r.at]
		if c == '\\' {
			r.at++
			plain, known := escapes[r.peek()]
			if !known {
				panic("no such escape")
			}
			c = plain
		}
		out.WriteByte(c)
	}
	r.at++
	return out.String()
}

func (r *reader) atom(token string) any {
	switch token {
	case "nil":
		return nil
	case "true", "false":
		return token == "true"
	}
	if name, is := strings.CutPrefix(token, ":"); is {
		if name == "" || strings.IndexByte("0123456789:/", name[0]) >= 0 || strings.ContainsAny(name, "/:@^`~'%&<>") {
			panic("no keyword: " + token)
		}
		return keyword(name)
	}
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		return n
	}
	if whole, is := strings.CutSuffix(token, "N"); is {
		if n, ok := new(big.Int).SetString(whole, 10); ok {
			return n
		}
	}
	if f, err := strconv.ParseFloat(token, 64); (err == nil || errors.Is(err, strconv.ErrRange)) && strings.ContainsAny(token, ".eE") {
		return f
	}
	panic("no element: " + token)
}

package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/transport/api"
)

// constants lists the text constants of one file, by name: of a type, or of any
// when typed is empty; of the blocks whose comment holds about.
func constants(t *testing.T, path, typed, about string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(path), nil, parser.ParseComments)
	require.NoError(t, err)
	found := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		if block, ok := n.(*ast.GenDecl); ok && !strings.Contains(block.Doc.Text(), about) {
			return false
		}
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); typed == "" || (ok && id.Name == typed) {
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			found[spec.Names[0].Name] = text
		}
		return true
	})
	require.NotEmpty(t, found)
	return found
}

// CL-2: every code that anybody can be answered with says what happened. The
// codes are read from the sources, so a new one cannot be forgotten here.
func TestEveryCodeIsInTheTable(t *testing.T) {
	check := func(from, code string, definite bool) {
		info, ok := api.Lookup(code)
		if assert.True(t, ok, "%s: %s is not in the table", from, code) {
			assert.Equal(t, definite, info.Definite, "%s: %s", from, code)
		}
	}
	// The kernel's codes stand in two blocks: those that end ticks, and those
	// that refuse commands. Some do both.
	for name, code := range constants(t, "../../kernel/failure/codes.go", "Code", "refuse a command") {
		check("kernel/failure."+name, code, true)
	}
	for _, code := range []string{"INVALID_STATE", "VERSION_CONFLICT", "MEMORY_FULL", "TOKEN_REVOKED", "TOKEN_EXPIRED"} {
		check("kernel/failure", code, true)
	}
	unknown := map[string]bool{"TIMEOUT": true, "SHUTDOWN": true, "LEADERSHIP_LOST": true, "STORE_FAILED": true}
	for name, code := range constants(t, "../../cluster/api.go", "", "") {
		if strings.HasPrefix(name, "Code") {
			check("cluster."+name, code, !unknown[code])
		}
	}
	for name, code := range constants(t, "../../cluster/consensus/outcome.go", "Code", "") {
		check("consensus."+name, code, !unknown[code])
	}
	for name, code := range constants(t, "codes.go", "", "") {
		if strings.HasPrefix(name, "Code") {
			check("api."+name, code, !unknown[code])
		}
	}
}

// The table says each thing once, and what it says fits together.
func TestTableIsSound(t *testing.T) {
	codes := api.Codes()
	for i, c := range codes {
		if i > 0 {
			assert.Less(t, codes[i-1].Code, c.Code, "the table is searched by code")
		}
		assert.NotEmpty(t, c.Text, c.Code)
		assert.Greater(t, c.Status, 399, c.Code)
		if c.Definite {
			assert.Equal(t, api.ExitRefused, c.Exit, c.Code)
		} else {
			assert.Equal(t, api.ExitUnknown, c.Exit, c.Code)
			assert.Equal(t, 504, c.Status, c.Code)
			assert.True(t, c.Retry, "%s: a retry with the same session is how to find out", c.Code)
		}
		found, ok := api.Lookup(c.Code)
		assert.True(t, ok)
		assert.Equal(t, c, found)
	}
	for code, status := range map[string]int{
		"NOT_FOUND": 404, "INVALID_ARGUMENT": 422, "INVALID_VALUE": 422, "INVALID_PROGRAM": 422, "QUEUE_FULL": 429,
		"SESSIONS_FULL": 429, "LIMIT_REACHED": 429, "SESSION_EXPIRED": 410, "NOT_LEADER": 421, "NO_LEADER": 503,
		"NOT_CAUGHT_UP": 503, "TOO_LARGE": 413, "MALFORMED_JSON": 400, "INVALID_TRANSITION": 409,
	} {
		info, _ := api.Lookup(code)
		assert.Equal(t, status, info.Status, code)
	}
}

// A code that only a newer server knows must not let a client claim anything.
func TestUnheardOfCodeIsUnknown(t *testing.T) {
	info, ok := api.Lookup("SOMETHING_NEW")
	assert.False(t, ok)
	assert.False(t, info.Definite)
	assert.Equal(t, api.ExitUnknown, info.Exit)
}

func TestErrorSaysWhatToDo(t *testing.T) {
	e := &api.Error{Code: "NOT_FOUND", Message: "no agent has this id", Hint: "see: omni agent list"}
	assert.Equal(t, "NOT_FOUND: no agent has this id (see: omni agent list)", e.Error())
	assert.False(t, e.Recorded())
	e.Index = 7
	assert.True(t, e.Recorded())
	assert.False(t, (&api.Error{Code: "SESSION_EXPIRED", Index: 7}).Recorded(), "a session that is gone remembers nothing")
	e.Index = 0
	assert.Equal(t, api.ExitUnknown, api.ExitOf(e), "not definite")
	e.Definite = true
	assert.Equal(t, api.ExitRefused, api.ExitOf(e))
}

// FA-5: every code that a tick or a call can end with says what happened, and
// has the kernel's class.
func TestEveryFailureIsInTheTable(t *testing.T) {
	known := constants(t, "../../kernel/failure/codes.go", "Code", "end a tick")
	table := api.Failures()
	assert.Len(t, table, len(known))
	at := make(map[string]api.FailureInfo)
	for i, f := range table {
		if i > 0 {
			assert.Less(t, table[i-1].Code, f.Code)
		}
		assert.NotEmpty(t, f.Text, f.Code)
		at[f.Code] = f
	}
	for name, code := range known {
		if assert.Contains(t, at, code, name) {
			assert.Equal(t, failure.ClassOf(failure.Code(code)).String(), at[code].Class, code)
		}
	}
	assert.Equal(t, "TRANSIENT", at["TOOL_TIMEOUT"].Class)
	assert.Equal(t, "POLICY_VIOLATION", at["REJECTED"].Class)
}

package agentfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// MaxBytes bounds a file. The kernel's own bound on a program is lower.
const MaxBytes = 1 << 20

// File is one accepted document.
type File struct {
	Name string
	src  []byte
	root *yaml.Node
	json map[string]json.RawMessage
}

// Read reads the named file, or stdin for "-", and parses it.
func Read(name string, stdin io.Reader, shape *Shape) (*File, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &Problem{File: name, Rule: reason(err)}
		}
		defer f.Close()
		from = f
	} else {
		name = "stdin"
	}
	src, err := io.ReadAll(io.LimitReader(from, MaxBytes+1))
	if err != nil {
		return nil, &Problem{File: name, Rule: reason(err)}
	}
	return Parse(name, src, shape)
}

// reason is the operating system's part of an error, without the path that
// stands in front of the message anyway.
func reason(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return "cannot be read: " + path.Err.Error()
	}
	return "cannot be read: " + err.Error()
}

// Parse accepts one document of the shape, or says with a *Problem what is
// wrong with it.
func Parse(name string, src []byte, shape *Shape) (*File, error) {
	if len(src) > MaxBytes {
		return nil, &Problem{File: name, Rule: fmt.Sprintf("is larger than %d bytes", MaxBytes)}
	}
	if at := invalidUTF8(src); at >= 0 {
		line, column := place(src, at)
		return nil, &Problem{File: name, Line: line, Column: column, Rule: "is not valid UTF-8"}
	}
	root, problem := document(name, src)
	if problem != nil {
		return nil, problem
	}
	c := converter{file: name}
	if problem := c.node(root, shape, "", 0); problem != nil {
		return nil, problem
	}
	f := &File{Name: name, src: src, root: root}
	if err := json.Unmarshal(c.out, &f.json); err != nil {
		return nil, &Problem{File: name, Rule: "is no mapping of fields"}
	}
	return f, f.checkModel(c.out)
}

// checkModel asks the kernel's own reader, whose rules bind (EX-10).
func (f *File) checkModel(doc []byte) error {
	_, broken := value.FromJSON(doc, 4*MaxBytes)
	if broken == nil {
		return nil
	}
	problem := &Problem{File: f.Name, Field: broken.Path, Rule: broken.Rule}
	problem.Line, problem.Column, _ = f.At(broken.Path)
	return problem
}

// JSON is the member of the document under key as JSON; nil when the file does
// not have it.
func (f *File) JSON(key string) json.RawMessage { return f.json[key] }

// Document is the whole file as JSON, to be decoded into a command's struct.
func (f *File) Document() json.RawMessage {
	doc, err := json.Marshal(f.json)
	if err != nil {
		panic("agentfile: a checked document that does not encode: " + err.Error())
	}
	return doc
}

// document parses YAML down to one node.
func document(name string, src []byte) (*yaml.Node, *Problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Problem{File: name, Rule: "is empty"}
		}
		return nil, malformed(name, err)
	}
	var second yaml.Node
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, &Problem{File: name, Line: second.Line, Column: second.Column,
			Rule: "holds a second document", Hint: "put each into a file of its own"}
	case !errors.Is(err, io.EOF):
		return nil, malformed(name, err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, &Problem{File: name, Rule: "is empty"}
	}
	return doc.Content[0], nil
}

// lineInError finds the line in the parser's message: it has no other place
// for it.
var lineInError = regexp.MustCompile(`^yaml: line (\d+): `)

func malformed(name string, err error) *Problem {
	problem := &Problem{File: name, Rule: strings.TrimPrefix(err.Error(), "yaml: ")}
	if found := lineInError.FindStringSubmatch(err.Error()); found != nil {
		problem.Line, _ = strconv.Atoi(found[1])
		problem.Rule = err.Error()[len(found[0]):]
	}
	problem.Rule = "is not YAML: " + problem.Rule
	return problem
}

func invalidUTF8(src []byte) int {
	for at := 0; at < len(src); {
		r, size := utf8.DecodeRune(src[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// place turns an offset into line and column.
func place(src []byte, at int) (line, column int) {
	before := src[:at]
	line = 1 + bytes.Count(before, []byte{'\n'})
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

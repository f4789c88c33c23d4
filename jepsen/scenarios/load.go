package scenarios

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

//go:embed data/*.yaml
var data embed.FS

// All reads every scenario of the tree, by name.
func All() ([]*Scenario, error) {
	names, err := fs.Glob(data, "data/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []*Scenario
	for _, name := range names {
		text, err := fs.ReadFile(data, name)
		if err != nil {
			return nil, err
		}
		s, err := Decode(path.Base(name), text)
		if err != nil {
			return nil, err
		}
		if want := strings.TrimSuffix(path.Base(name), ".yaml"); s.Name != want {
			return nil, fmt.Errorf("%s: name: it is %q, and the file's is %q", name, s.Name, want)
		}
		all = append(all, s)
	}
	return all, nil
}

// Decode reads one scenario. The file's name is for errors.
func Decode(file string, text []byte) (*Scenario, error) {
	s := &Scenario{Nodes: 3, Store: "bolt", AtOnce: 1, Calm: 3 * time.Second, Settle: 3 * time.Second}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := d.Decode(new(Scenario)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: a file holds one scenario", file)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// UnmarshalYAML reads "2s" or "1s-6s".
func (s *Span) UnmarshalYAML(node *yaml.Node) error {
	least, most, isRange := strings.Cut(node.Value, "-")
	if !isRange {
		most = least
	}
	var err error
	if s.Min, err = time.ParseDuration(least); err == nil {
		s.Max, err = time.ParseDuration(most)
	}
	if err != nil || s.Min < 0 || s.Max < s.Min {
		return fmt.Errorf("line %d: %q is no duration such as 2s, nor a range such as 1s-6s", node.Line, node.Value)
	}
	return nil
}

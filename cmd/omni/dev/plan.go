package dev

import "github.com/google/uuid"

// Plan says which nodes a new cluster would have that Start makes of the options,
// and where: for whoever fills its directory first, with a node's data in DIR/ID.
// Write makes it known to Start.
func Plan(options Options) (File, error) {
	options, err := options.withDefaults()
	if err != nil {
		return File{}, err
	}
	if options.Nodes == 0 {
		options.Nodes = defaultNodes
	}
	f, err := plan(options, &File{})
	f.ClusterID = uuid.NewString()
	return f, err
}

// Write makes DIR/dev.json.
func (f *File) Write(dir string) error { return f.write(dir) }

package traffic

import (
	"fmt"

	"github.com/omnikernel/omnikernel/jepsen/model"
)

// New makes the workload of a name, as scenarios say it.
func New(name string) (Workload, error) {
	switch name {
	case model.Register:
		return new(Register), nil
	case model.Reads:
		return new(Readers), nil
	case model.Stream:
		return new(Streams), nil
	}
	return nil, fmt.Errorf("there is no workload %q", name)
}

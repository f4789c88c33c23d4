package replay

import (
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// ErrNoAgent says that a log has no agent of the id that was asked for.
var ErrNoAgent = errors.New("the log has no agent of this id")

// ErrNoRun says that a log has no run of the id that was asked for.
var ErrNoRun = errors.New("the log has no run of this id")

// Taker takes the blocks that touch an agent, or a run, oldest first, until it is
// Done.
type Taker interface {
	Block(position uint64, b *logging.Block) error
	Done() bool
}

// Make makes what takes the history of the agent or the run with that number, in a
// kernel of that configuration. find brings bodies from other blocks.
type Make func(no uint32, c *config.Config, find kernel.FindBody) Taker

// InLog picks the history of one agent, or of one run, out of a whole log, fed from
// its first block on.
type InLog struct {
	id     identity.ID
	run    bool
	make   Make
	config *config.Config
	bodies interning.Tables // of everybody, as of the block before
	no     uint32           // what stands for it in blocks; 0 before it is defined
	taker  Taker
}

// NewInLog looks for the agent of that id.
func NewInLog(id identity.ID, make Make) *InLog { return &InLog{id: id, make: make} }

// NewRunInLog looks for the run of that id.
func NewRunInLog(id identity.ID, make Make) *InLog { return &InLog{id: id, run: true, make: make} }

// Done reports that the taker wants no further block.
func (x *InLog) Done() bool { return x.taker != nil && x.taker.Done() }

// Over ends the log: ErrNoAgent, or ErrNoRun, if it was not in it.
func (x *InLog) Over() error {
	switch {
	case x.taker == nil && x.run:
		return ErrNoRun
	case x.taker == nil:
		return ErrNoAgent
	}
	return nil
}

// Block takes the log's next block. The error is the taker's, or says that the
// log cannot be read.
func (x *InLog) Block(position uint64, b *logging.Block) error {
	if position == 0 {
		x.config = kernel.ConfigIn(b)
	}
	if x.config == nil {
		return fmt.Errorf("%w: it does not begin with the first block, which has the configuration", ErrLog)
	}
	if x.no == 0 {
		no := definedIn(b, x.id)
		if x.no = no; x.run && no != 0 {
			x.no = logging.RunSubject(no)
		}
		if _, touched := b.Previous(x.no); touched {
			x.taker = x.make(no, x.config, x.body)
		}
	}
	if _, touched := b.Previous(x.no); touched && x.taker != nil && !x.taker.Done() {
		if err := x.taker.Block(position, b); err != nil {
			return err
		}
	}
	return x.keepBodies(position, b)
}

// definedIn is the number of the agent of that id, if the block defines it.
func definedIn(b *logging.Block, id identity.ID) uint32 {
	for records := b.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.AgentDefined {
			continue
		}
		if d, ok := identity.DecodeDefined(records.Record.Body); ok && d.ID == id {
			return records.Record.Agent
		}
	}
	return 0
}

var errNoBody = errors.New("nobody has it at this point of the log")

// body is a kernel.FindBody.
func (x *InLog) body(no uint32, block uint64) ([]byte, error) {
	if e := x.bodies.Get(no); e != nil && e.Block == block {
		return e.Body, nil
	}
	return nil, errNoBody
}

// keepBodies takes in what the block says of bodies: only those that somebody
// has are kept, as in the kernel itself.
func (x *InLog) keepBodies(position uint64, b *logging.Block) (err error) {
	defer func() {
		if recover() != nil { // the tables trust their records
			err = fmt.Errorf("%w: bodies of the block at index %d are not those before it", ErrLog, b.Index)
		}
	}()
	for records := b.Records(); records.Next(); {
		switch r := &records.Record; bus.Kind(r.Kind) {
		case bus.Interned:
			if gained, ok := interning.DecodeGained(r.Body); ok {
				x.bodies.ApplyGained(gained, logging.PointerTo(position))
			}
		case bus.Released:
			if lost, ok := interning.DecodeLost(r.Body); ok {
				x.bodies.ApplyLost(lost)
			}
		}
	}
	return nil
}

package recordjson

import (
	"sync"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// How many programs are remembered, how many lists of grants, and how many grants
// in all of these.
const (
	maxPrograms = 1024
	maxLists    = 1024
	maxGrants   = 1 << 16
)

// known remembers what notes tell of interned bodies: of programs the kinds of their
// instructions, and lists of grants. Numbers are never reused, so what it remembers
// stays true. What was looked for in vain is remembered as empty.
type known struct {
	mu     sync.Mutex // guards what follows
	kinds  map[uint32][]string
	lists  map[uint32][]permissions.Grant
	grants int // in all lists
}

// take remembers the programs and grants that a record of the log introduces.
func (k *known) take(gained *interning.Gained) {
	for _, e := range gained.Entries {
		switch {
		case !e.New:
		case e.Class == interning.Program:
			k.program(e.No, e.Body)
		case e.Class == interning.Grants:
			k.list(e.No, e.Body)
		}
	}
}

func (k *known) kindsOf(no uint32) ([]string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kinds, ok := k.kinds[no]
	return kinds, ok
}

func (k *known) listOf(no uint32) ([]permissions.Grant, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	list, ok := k.lists[no]
	return list, ok
}

// program remembers the one in an interned body.
func (k *known) program(no uint32, body []byte) []string {
	_, source := flows.ParseProgramBody(body)
	kinds := instructionKinds(nil, source, 0)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kinds == nil || len(k.kinds) >= maxPrograms {
		k.kinds = make(map[uint32][]string)
	}
	k.kinds[no] = kinds
	return kinds
}

// list remembers the grants in an interned body.
func (k *known) list(no uint32, body []byte) []permissions.Grant {
	var list []permissions.Grant
	if decoded, ok := event.DecodeBody[[]permissions.Grant](body); ok {
		list = *decoded
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lists == nil || len(k.lists) >= maxLists || k.grants+len(list) > maxGrants {
		k.lists, k.grants = make(map[uint32][]permissions.Grant), 0
	}
	k.grants += len(list) - len(k.lists[no])
	k.lists[no] = list
	return list
}

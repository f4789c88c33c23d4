package runs

// Ledger is where a run's part of the log ends: the blocks that touch one of its
// agents (RU-4). It is logging's, as the same two fields of an agent's row are, and
// changes with every block of the run, which a Run does not.
type Ledger struct {
	_         struct{} `cbor:",toarray"`
	Agent     uint32   // the run
	LastBlock uint64   // pointer to the run's newest block, 0 for none
	Head      [32]byte // … and the run's own chain value after it
}

// Ledger finds a run's; the zero value but for the number is one without a block.
func (t *Tables) Ledger(agent uint32) Ledger {
	l, _ := t.ledgers.Get(number(agent))
	l.Agent = agent
	return l
}

// Reached notes that a block was the run's newest.
func (t *Tables) Reached(l Ledger) { t.ledgers.Set(number(l.Agent), l) }

// AllLedgers yields them in the order of the runs.
func (t *Tables) AllLedgers(yield func(Ledger) bool) {
	t.ledgers.All(func(_ number, l Ledger) bool { return yield(l) })
}

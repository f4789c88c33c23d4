package evaluator

// Continue hands a live tick the answer that it waits for, without a
// checkpoint: what Resume does must look the same to the program.
func Continue(running Tick, delivery *Delivery) bool { return running.(*tick).accept(delivery) }

// BrokenProgram has an instruction that no compiler makes.
func BrokenProgram() Program {
	n := newNode()
	n.op = 99
	return &program{nodes: []node{n}}
}

// Resumable is a program whose CALL never compiled: evaluating it panics.
func Resumable() Program {
	n := newNode()
	n.op = opCall
	n.parent = 7
	return &program{nodes: []node{n}}
}

// Store is how many bytes of values a tick counts as remembered.
func Store(running Tick) int64 { return running.(*tick).store }

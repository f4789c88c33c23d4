package kernel

import "github.com/omnikernel/omnikernel/kernel/flows"

// sizeUp says which agents of the block have come to a limit of their part of the log.
func (k *Kernel) sizeUp() {
	if k.state.Version() < 2 {
		return
	}
	for i := range k.block.Touched() { // the records are of agents that it touches already
		agent, _ := k.block.TouchedAt(i)
		flows.LogSize(k.view(), agent, &k.out)
		if k.out.Len() > 0 {
			k.run(0)
		}
	}
}

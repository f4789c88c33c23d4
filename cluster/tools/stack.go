package tools

import "runtime"

const maxStackBytes = 16 << 10

// stack returns where the running panic came from, bounded.
func stack() []byte {
	buffer := make([]byte, maxStackBytes)
	return buffer[:runtime.Stack(buffer, false)]
}

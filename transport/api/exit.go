package api

// Exit is the exit code that belongs to what happened; omni ends with it.
type Exit int

// The exit codes.
const (
	ExitDone        Exit = 0
	ExitRefused     Exit = 1 // it did not happen
	ExitUsage       Exit = 2
	ExitUnknown     Exit = 3 // it may have happened
	ExitUnreachable Exit = 4 // nobody could be asked
)

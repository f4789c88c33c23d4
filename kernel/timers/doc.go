// Package timers keeps the kernel's deadlines, ordered by (deadline, id).
//
// It holds no clock. The kernel's time is the greatest wall time that an event
// brought (EV-6), and a timer fires when an event finds it due; the leader
// proposes a Pulse when a deadline passes and nothing else is committed (EV-7).
package timers

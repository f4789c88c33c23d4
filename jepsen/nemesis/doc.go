// Package nemesis makes the faults of a run, and takes them back.
//
// A scenario names faults by kind (Kinds lists them, with their parameters). The
// experiment gives a Nemesis the Means: nodes with their processes, disks, clocks
// and answers, and the network between them. Draw injects and heals faults of a
// mix by a seed; Play does fixed steps. Both record every fault when it is there
// and when it is over, and end at the first that cannot be made: a run with a
// fault that was not there shows nothing. HealAll takes back whatever is left.
//
// A fault claims what it changes of a node: its process, disk, clock, log or
// answers. No two of the same claim are on one node at a time; faults of the
// network go together.
//
// What it never does: skip a fault silently, or leave one behind.
package nemesis

// Package wire is the cable between the hosts of a lab: a switch in this program
// that decides about every frame from one host to another.
//
// # Who calls it, in which order
//
// New takes the hosts, each with a file of Ethernet frames such as a TAP device
// (package netns), and carries frames from then on. A nemesis Imposes Rules, which
// are a Policy for each of some Links, and Lifts them again; several may be in
// force at once, and their policies are put together. The functions of
// partition.go say which links the usual partitions cut. Counts tells what was
// done to the frames of each link: a cut that met no frame was no fault. Close ends
// it and closes the files.
//
// # What a policy means
//
// A Link has a direction. The rules of all links change at one moment. Delay and
// Jitter keep the order of frames, as a queue does; only Reorder changes it. A cut
// also meets frames that are under way: when it begins, what was delayed is lost.
// A link has room for maxWaiting frames that wait, and for maxQueue of its rate;
// the rest is dropped, as by a router.
//
// The n-th frame of a link meets the same fate for the same seed and the same
// policy. Which frame is the n-th, the hosts decide.
//
// # What it never does
//
// It never looks into a frame further than its addresses. A link without a policy
// costs one read, one write and two atomic additions a frame, and no allocation.
package wire

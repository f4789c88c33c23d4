// Package netns has network namespaces: hosts of their own as far as the network
// goes, without a machine of their own. It is for Linux, as root, with the `ip`
// command of iproute2; elsewhere every function says so.
//
// # Who calls it, in which order
//
// The lab Adds a namespace for each node and Plugs it: that makes a TAP device in
// it, whose frames package wire carries. The namespace "" is the one in which the
// program runs; it is plugged in the same way, so that the program itself reaches
// the nodes. Enter gives a thread inside of a namespace, from which the lab starts
// the node's process. At the end the files of the TAP devices are closed, which
// removes the devices, and Delete removes the namespaces.
//
// # Why neighbours are fixed
//
// Plug is told the address of every host's network card, so nobody asks for them.
// A host that is cut off is then silent and nothing else: with ARP, the system
// would find out by itself after some seconds that it cannot be reached, and tell
// the program with an error that no lost cable gives so soon.
//
// # What it never does
//
// It never enters a mount namespace, as `ip netns exec` does: such a one keeps
// every mounted file system alive after it was unmounted, and a disk whose power
// was cut would not be gone.
package netns

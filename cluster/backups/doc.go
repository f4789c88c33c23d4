// Package backups keeps the directory of backups that a node makes by itself.
//
// A node that is configured to makes one Keeper and runs it until it stops; Status
// may be asked at any time. Every so often the Keeper makes a backup, reads it back,
// gives it its name, and removes its oldest ones beyond those that are to be kept.
// When the next one is due follows from the names that are there, so that a restart
// neither delays nor repeats one. Nothing that happened since the newest one is no
// reason to make another: old ones are not pushed out by copies.
//
// Directories may be shared: a Keeper touches only files of its own node, kernel and
// cluster, and never one whose name it did not make.
//
// What it never does: hold up a command (reading is paced, and nobody waits for it),
// remove its newest backup, or end the node: what fails is logged, shown in the
// status, and tried again.
package backups

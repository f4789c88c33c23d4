// Package mailbox keeps the messages that an agent has been sent and has not
// received: bounded in number and in bytes, first in first out. The command
// that sends, and the kernel tool mailbox.receive, are flows; this package only
// takes their records in.
package mailbox

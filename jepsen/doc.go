// Command jepsen hurts real clusters of omni and judges what they did. See README.md.
//
//	jepsen run NAME…        run scenarios, in turn
//	jepsen run --smoke      the quick ones
//	jepsen run --for 8h     all of them, again and again, with new seeds
//	jepsen planted          build each planted bug, and demand that it is found
//	jepsen list             the scenarios, and the faults there are
//	jepsen check DIR…       judge old reports again
//	jepsen sweep            remove what an interrupted run left behind
//
// It needs Linux, root and iproute2, and removes whatever it makes, also when it is
// interrupted. Exit codes: 0 all is valid, 1 something is not, 2 it could not be
// run, 3 nothing was shown.
package main

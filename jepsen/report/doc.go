// Package report is the folder that a run leaves: what happened, what was judged,
// and a page on which a person sees both.
//
//	run.json          the scenario as data, seed, versions, how to run it again
//	history.jsonl     what was asked and answered, as package history wrote it
//	history.edn       the same for Jepsen's checkers
//	log.jsonl.gz      the execution log as one node held it in the end
//	ends.json         what each node held in the end
//	verdict.json      what the checkers found
//	nodes/NODE/       the output of each node's processes
//	pictures/         what checkers drew
//	index.html        the page
//	SHA256SUMS        of all of them but the page, as sha256sum -c reads it
//
// The experiment calls Create before anything runs, writes the history to its
// History and the nodes' output under Nodes, and when all is over the log with
// Log, then judges, with Pictures as the Dir of the evidence, and calls Finish. A
// run that is interrupted leaves a folder without SHA256SUMS, whose history can
// still be read.
//
// Load reads a folder into what the checkers want; Again judges it once more and
// says whether that gives the same verdicts. What is missing or damaged is named
// by file and place, and nothing is judged then.
//
// What it never does: judge by itself, or change a folder after Finish.
package report

// Package tell is how omni speaks: data on stdout, talk on stderr, as text or
// as JSON, and one exit code for what happened.
//
// main makes one Teller and hands it to every command. A command prints its
// answer once with Data, or line by line with Line when it goes on; what is
// going on it says with Say. An error it only returns: main gives it to Fail,
// which prints it with its hint and knows the exit code.
//
// With -o json stdout holds JSON documents only, one a line, and so does
// stderr when a command fails. Styles are for terminals: what is piped is
// plain.
//
// What it never does: ask anybody anything, or exit.
package tell

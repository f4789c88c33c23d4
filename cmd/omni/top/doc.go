// Package top puts together what omni top shows: a cluster's status and what its nodes
// export as metrics, twice, so that there are rates; and lays it out in lines. It asks
// nobody: cmd/omni hands it what was answered, and shows the lines.
package top

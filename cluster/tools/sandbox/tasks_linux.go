package sandbox

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// task is a process, as /proc shows it.
type task struct {
	parent  int
	threads uint64
}

// tasks lists the processes that can be seen.
func tasks() map[int]task {
	all := make(map[int]task)
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The second field is a name in parentheses, with anything in it.
		text := string(line)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) < 18 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		threads, _ := strconv.ParseUint(fields[17], 10, 32)
		all[pid] = task{parent, threads}
	}
	return all
}

// killDescendants kills what this process, its children and theirs started. What is
// orphaned meanwhile becomes a child of this process.
func killDescendants() {
	all, self := tasks(), os.Getpid()
	for pid := range all {
		for up := pid; up > 1; up = all[up].parent {
			if up == self && pid != self {
				_ = unix.Kill(pid, unix.SIGKILL)
				break
			}
		}
	}
}

// tasksOf is how many processes and threads a user has.
func tasksOf(uid int) (count uint64) {
	for pid, one := range tasks() {
		var of unix.Stat_t
		if unix.Stat("/proc/"+strconv.Itoa(pid), &of) == nil && int(of.Uid) == uid {
			count += one.threads
		}
	}
	return count
}

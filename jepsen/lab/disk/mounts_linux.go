package disk

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mark begins the name of every image and the source of every mount that this
// package makes, so that Sweep touches nothing else.
const mark = "omni-disk"

// mounted is a mount of ours.
type mounted struct {
	point  string
	source string // the device of an image, mark of a faulty one
	minor  string // number of the device that the kernel made up for it
}

// mountsBelow lists the mounts of this package below a directory, or at it,
// newest first.
func mountsBelow(dir string) ([]mounted, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	defer f.Close()
	var found []mounted
	for lines := bufio.NewScanner(f); lines.Scan(); {
		m, ok := parseMount(lines.Text())
		if ok && isBelow(m.point, dir) && (m.source == mark || isOurLoop(m.source)) {
			found = append([]mounted{m}, found...)
		}
	}
	return found, nil
}

// parseMount reads a line of mountinfo: two numbers, major:minor, root, mount point, options,
// optional fields, a dash, type, source, options of the file system.
func parseMount(line string) (mounted, bool) {
	before, after, ok := strings.Cut(line, " - ")
	fields, rest := strings.Fields(before), strings.Fields(after)
	if !ok || len(fields) < 5 || len(rest) < 2 {
		return mounted{}, false
	}
	_, minor, _ := strings.Cut(fields[2], ":")
	return mounted{point: unescape(fields[4]), source: unescape(rest[1]), minor: minor}, true
}

// unescape undoes what the kernel does to blanks in names.
func unescape(name string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(name)
}

func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// unmount fails while somebody uses the mount.
func unmount(point string) error {
	err := unix.Unmount(point, 0)
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("unmount %s: %w: whoever uses it must be dead or stopped first", point, err)
	}
	if err != nil {
		return fmt.Errorf("unmount %s: %w", point, err)
	}
	return nil
}

// absolute is how the kernel names a directory that exists.
func absolute(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("disk: %w", err)
	}
	return path, nil
}

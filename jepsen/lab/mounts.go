package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// unmountBelow unmounts what is mounted at or below some directories, the last one
// first. It returns what it unmounted.
func unmountBelow(dirs []string) (unmounted []string, err error) {
	points, err := mountPoints()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, point := range slices.Backward(points) {
		if !anyBelow(point, dirs) {
			continue
		}
		if err := unmount(point); err != nil {
			errs = append(errs, fmt.Errorf("unmount %s: %w", point, err))
			continue
		}
		unmounted = append(unmounted, point)
	}
	return unmounted, errors.Join(errs...)
}

// mountPoints of this program, in the order in which they were mounted.
func mountPoints() ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var points []string
	for line := range strings.Lines(string(text)) {
		// 36 35 98:0 /root /where options …
		if fields := strings.Fields(line); len(fields) > 4 {
			points = append(points, unescape(fields[4]))
		}
	}
	return points, nil
}

// unescape reads a path as the kernel writes it: blanks and the like as \040.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// anyBelow tells whether a path is one of some directories or below one.
func anyBelow(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}

// detachBelow detaches loop devices whose files are below some directories. It
// returns the devices.
func detachBelow(dirs []string) (detached []string, err error) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, file := range files {
		backing, err := os.ReadFile(file)
		if err != nil { // detached meanwhile
			continue
		}
		path := strings.TrimSuffix(strings.TrimSuffix(string(backing), "\n"), " (deleted)")
		if !anyBelow(path, dirs) {
			continue
		}
		device := "/dev/" + filepath.Base(filepath.Dir(filepath.Dir(file)))
		if err := detach(device); err != nil {
			errs = append(errs, fmt.Errorf("detach %s from %s: %w", device, path, err))
			continue
		}
		detached = append(detached, device)
	}
	return detached, errors.Join(errs...)
}

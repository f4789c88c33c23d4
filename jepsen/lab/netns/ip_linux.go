package netns

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

func ipCommand() (string, error) {
	found, err := exec.LookPath("ip")
	if err != nil {
		return "", errors.New("the command ip is not here: install iproute2, with `apt-get install iproute2` for example")
	}
	return found, nil
}

// ip runs one ip command with something on its input.
func ip(input string, args ...string) error {
	program, err := ipCommand()
	if err != nil {
		return err
	}
	command := exec.Command(program, args...)
	command.Stdin = strings.NewReader(input)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Run(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return nil
}

func ipBatch(namespace, script string) error {
	if namespace == "" {
		return ip(script, "-batch", "-")
	}
	return ip(script, "-netns", namespace, "-batch", "-")
}

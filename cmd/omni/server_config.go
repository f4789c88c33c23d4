package main

import (
	"regexp"
	"strings"

	"github.com/spf13/pflag"
)

// shownConfig is what a node runs with, for people who look for what is wrong with it.
type shownConfig struct {
	Build build             `json:"build"`
	Flags map[string]string `json:"flags"` // all of them, the defaults, too
}

// notShown stands in the place of a secret.
const notShown = "(not shown)"

var (
	secretName = regexp.MustCompile(`token|secret|password|passphrase`)
	userInfo   = regexp.MustCompile(`//[^/@\s]+@`)
)

// shown leaves out what is or may hold a secret.
func shown(flags *pflag.FlagSet) shownConfig {
	c := shownConfig{Build: thisBuild(), Flags: make(map[string]string)}
	flags.VisitAll(func(f *pflag.Flag) {
		value := userInfo.ReplaceAllString(f.Value.String(), "//"+notShown+"@")
		if secretName.MatchString(strings.ToLower(f.Name)) && value != "" && value != "[]" {
			value = notShown
		}
		c.Flags[f.Name] = value
	})
	return c
}

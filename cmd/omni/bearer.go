package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// tokenVariable names the token when no flag does.
const tokenVariable = "OMNI_TOKEN"

// bearer is where the token comes from that says who asks.
type bearer struct{ token, file string }

func (b *bearer) add(flags *pflag.FlagSet) {
	flags.StringVar(&b.token, "token", "", "token that says who you are; other users of this machine may see it, so prefer --token-file (or $"+tokenVariable+")")
	flags.StringVar(&b.file, "token-file", "", "file that holds the token")
}

// read gives the token; empty when there is none. The flags say it before the
// environment does.
func (b *bearer) read() (string, error) {
	text, from := b.token, "--token"
	switch {
	case b.token != "" && b.file != "":
		return "", tell.Usage("give one of them", "--token and --token-file say the same")
	case b.file != "":
		raw, err := os.ReadFile(b.file)
		if err != nil {
			return "", tell.Usage("omni auth bootstrap and omni auth token create write one with --out FILE", "--token-file: %v", err)
		}
		text, from = string(raw), "--token-file"
	case text == "":
		text, from = os.Getenv(tokenVariable), "$"+tokenVariable
	}
	if text = strings.TrimSpace(text); text == "" && from != "--token-file" {
		return "", nil
	}
	if _, ok := api.ParseBearer(text); !ok {
		return "", tell.Usage("a token begins with omni_ and is copied whole", "%s: that is no token", from) // it is never shown
	}
	return text, nil
}

// gone tells that the token would be in a file which is not there.
func (b *bearer) gone() bool {
	if b.file == "" {
		return false
	}
	_, err := os.Stat(b.file)
	return errors.Is(err, fs.ErrNotExist)
}

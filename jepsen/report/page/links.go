package page

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

// link is a file beside the page. One that is not beside it has no address.
type link struct{ Href, Text string }

// maxLinks bounds how many files are listed.
const maxLinks = 300

func links(files []string) []link {
	var all []link
	for i, file := range files {
		if i == maxLinks {
			return append(all, link{Text: fmt.Sprintf("and %d more", len(files)-i)})
		}
		all = append(all, linkTo("", file))
	}
	return all
}

func linkTo(dir, file string) link {
	l := link{Text: plain.Text(file, 200)}
	if filepath.IsLocal(file) {
		parts := strings.Split(dir+filepath.ToSlash(file), "/")
		for i := range parts {
			parts[i] = url.PathEscape(parts[i])
		}
		l.Href = "./" + strings.Join(parts, "/")
	}
	return l
}

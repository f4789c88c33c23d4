package mcpclient

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"
)

// Bounds of what a server's stderr puts into the node's log.
const (
	maxLine  = 1 << 10
	maxLines = 100 // in linesPer
	linesPer = 10 * time.Second
)

// tellLines reads a server's stderr to its end. Lines are cut, and beyond so many in a
// while they are counted only.
func tellLines(from *os.File, tell func(line string)) {
	defer from.Close()
	reader := bufio.NewReaderSize(from, maxLine)
	var since time.Time
	told, dropped := 0, 0
	for {
		line, more, err := reader.ReadLine()
		if err != nil {
			break
		}
		text := strings.ToValidUTF8(string(line), "?")
		for more && err == nil {
			_, more, err = reader.ReadLine()
		}
		now := time.Now()
		if now.Sub(since) > linesPer {
			if dropped > 0 {
				tell(fmt.Sprintf("%d more lines were dropped", dropped))
			}
			since, told, dropped = now, 0, 0
		}
		if told++; told > maxLines {
			dropped++
			continue
		}
		tell(text)
	}
	if dropped > 0 {
		tell(fmt.Sprintf("%d more lines were dropped", dropped))
	}
}

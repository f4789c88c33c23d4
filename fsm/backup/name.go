package backup

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Name is what a backup's file name says, so that names sort by time, then index,
// and those of several clusters and nodes can lie in one directory:
//
//	20251121T034600Z-00000000000000012345-n1@default@CLUSTER.omniback
//
// An id that does not fit a file name is written as in a URL's query.
type Name struct {
	MadeAt time.Time // to the second
	Index  uint64
	Node   string
	Kernel string
	Of     string // the cluster
}

const nameTime = "20060102T150405Z"

// NameOf a backup.
func NameOf(h Header) Name {
	return Name{MadeAt: h.MadeAt, Index: h.Index, Node: h.Node, Kernel: h.KernelID, Of: h.ClusterID}
}

// String is the file name.
func (n Name) String() string {
	return fmt.Sprintf("%s-%020d-%s@%s@%s%s", n.MadeAt.UTC().Format(nameTime), n.Index,
		url.QueryEscape(n.Node), url.QueryEscape(n.Kernel), url.QueryEscape(n.Of), Suffix)
}

// ParseName reads what String writes, and nothing else.
func ParseName(file string) (Name, bool) {
	var n Name
	stem, ok := strings.CutSuffix(file, Suffix)
	parts := strings.SplitN(stem, "-", 3)
	if !ok || len(parts) != 3 {
		return n, false
	}
	ids := strings.Split(parts[2], "@")
	if len(ids) != 3 {
		return n, false
	}
	var errs [5]error
	n.MadeAt, errs[0] = time.Parse(nameTime, parts[0])
	n.Index, errs[1] = strconv.ParseUint(parts[1], 10, 64)
	n.Node, errs[2] = url.QueryUnescape(ids[0])
	n.Kernel, errs[3] = url.QueryUnescape(ids[1])
	n.Of, errs[4] = url.QueryUnescape(ids[2])
	for _, err := range errs {
		if err != nil {
			return Name{}, false
		}
	}
	return n, n.String() == file
}

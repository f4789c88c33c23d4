package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
)

// historyInterval is how often the nodes are asked about their history.
const historyInterval = time.Second

// maxStatus bounds what is read of a cluster's status.
const maxStatus = 64 << 10

// WatchHistory tells of nodes that fetch history from the others, and of when
// they have it, until the context ends.
func (c *Cluster) WatchHistory(ctx context.Context) {
	asker := &http.Client{Timeout: historyInterval}
	defer asker.CloseIdleConnections()
	lacking, refused := make(map[string]bool), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(historyInterval):
		}
		status, err := c.status(ctx, asker)
		if err != nil {
			if errors.Is(err, errMayNot) && !refused {
				c.say("authorization is on, and omni dev may not ask how the nodes are: keep a token in " + filepath.Join(c.Dir(), TokenFileName) + " that may do cluster.read; the nodes go on")
				refused = true
			}
			continue // while no node answers there is nothing to tell
		}
		for _, n := range status.Nodes {
			switch lacks := n.Backfill != nil; {
			case lacks && !lacking[n.ID]:
				c.say(fmt.Sprintf("%s fetches history from the others: it has it from busSeq %d on", n.ID, n.HistoryFrom))
				lacking[n.ID] = true
			case !lacks && n.HistoryFrom > 0 && lacking[n.ID]:
				c.say(n.ID + " has its history again")
				delete(lacking, n.ID)
			}
		}
	}
}

// status asks one node after the other for the cluster's.
func (c *Cluster) status(ctx context.Context, asker *http.Client) (status api.Status, err error) {
	token := c.options.Token
	if token == "" {
		if token, err = Token(c.Dir()); err != nil {
			return status, err
		}
	}
	for _, node := range c.File().Nodes {
		if status, err = statusFrom(ctx, asker, node.API, token); err == nil {
			return status, nil
		}
	}
	return status, err
}

// errMayNot says that whoever asks is nobody, or may not.
var errMayNot = errors.New("dev: the node does not answer this one")

func statusFrom(ctx context.Context, asker *http.Client, base, token string) (status api.Status, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/cluster/status", nil)
	if err != nil {
		return status, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := asker.Do(request)
	if err != nil {
		return status, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return status, errMayNot
	default:
		return status, fmt.Errorf("%s answered %s", base, response.Status)
	}
	err = json.NewDecoder(io.LimitReader(response.Body, maxStatus)).Decode(&status)
	return status, err
}

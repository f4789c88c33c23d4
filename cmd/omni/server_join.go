package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// joining is how a node comes into a cluster that exists.
type joining struct {
	join    []string // addresses of APIs of the cluster; none: the node does not join
	learner bool
	replace string
	apiURL  string
	owned   bool // it has a directory: it may be a member already

	app *app // by whose credentials the cluster's API is asked
}

const (
	joinAsk  = 5 * time.Second // for one answer of the cluster
	joinLook = 500 * time.Millisecond
	joinRest = time.Minute // at most, after a change that was refused again and again
)

// members are the first ones of the cluster, as --peer lists them. A node that joins
// knows only itself: whose cluster it is, it asks before it has a directory.
func (f *serverFlags) members(ctx context.Context) ([]cluster.Peer, error) {
	listed, err := peerList(f.peers)
	if err != nil {
		return nil, err
	}
	if f.learner && f.replace != "" {
		return nil, tell.Usage("leave one of them out", "--learner and --replace: a node takes a voter's place by its vote, which a learner has not")
	}
	if len(f.join) == 0 {
		if len(listed) == 0 {
			return nil, errors.New("--peer: every node of a new cluster must be listed, this one too; a node that joins one is started with omni cluster join")
		}
		return listed, nil
	}
	owner, _, owned, err := datadir.Owner(f.dataDir)
	if err != nil {
		return nil, err
	}
	if f.owned = owned; owned {
		f.cluster = owner
	} else if err := f.askCluster(ctx); err != nil {
		return nil, err
	}
	self := cluster.Peer{ID: f.node, Raft: f.raftAddr, API: f.apiURL}
	if self.API == "" {
		self.API = "http://" + f.apiAddr
		if f.tls.files.Cert != "" {
			self.API = "https://" + f.apiAddr
		}
	}
	for _, p := range listed {
		if p.ID == self.ID {
			return listed, nil
		}
	}
	return append(listed, self), nil
}

// askCluster learns the cluster's id.
func (f *serverFlags) askCluster(ctx context.Context) error {
	connection, err := f.connectTo(f.join)
	if err != nil {
		return err
	}
	defer connection.Close()
	members, err := connection.Members(ctx)
	if err != nil {
		return fmt.Errorf("who the cluster is: %w", err)
	}
	if members.KernelID != f.kernel {
		return fmt.Errorf("--kernel: the cluster's kernel is %s", members.KernelID)
	}
	f.cluster = members.ClusterID
	return nil
}

// connectTo asks with the caller's credentials, or with the node's own.
func (f *serverFlags) connectTo(servers []string) (*client.Client, error) {
	shown := f.app.credentials.named()
	if shown == (credentials{}) {
		shown = credentials{ca: f.tls.files.CA, cert: f.tls.files.Cert, key: f.tls.files.Key}
	}
	secured, err := shown.config()
	if err != nil {
		return nil, err
	}
	token, err := f.app.bearer.read()
	if err != nil {
		return nil, err
	}
	return client.New(servers, client.Options{Kernel: f.kernel, Timeout: joinAsk, TLS: secured, Token: token})
}

// joiner has a node that runs taken in.
type joiner struct {
	joining
	self       cluster.Peer
	comes      bool // it was seen without a vote: it replaces somebody now, and did not long ago
	connection *client.Client
	logger     hclog.Logger
	told       string
}

// beginJoin has the node taken in, beside whatever it does.
func (s *standing) beginJoin(f *serverFlags, c *cluster.Config) (stop func(), err error) {
	if len(f.join) == 0 {
		return func() {}, nil
	}
	j := &joiner{joining: f.joining, logger: c.Logger.Named("join")}
	for _, p := range c.Peers {
		if p.ID == c.NodeID {
			j.self = p
		}
	}
	if f.owned && f.app.bearer.gone() {
		j.logger.Warn("the file of the token is gone: a member goes on without it; a node that is none yet needs it to be taken in", "file", f.app.bearer.file)
		f.app.bearer.file = ""
	}
	if j.connection, err = f.connectTo(f.join); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	watched := supervise.Options{State: c.State, Logger: c.Logger}
	done := supervise.Begin(ctx, watched, supervise.Component{Name: "join", Run: func(ctx context.Context) error {
		if err := j.run(ctx); err != nil {
			select {
			case s.lost <- err:
			case <-ctx.Done():
			}
		}
		return nil
	}})
	return func() {
		cancel()
		<-done
		j.connection.Close()
	}, nil
}

// serveJoining is serve, of a node that may have to be taken in first.
func (s *standing) serveJoining(ctx context.Context, f *serverFlags, c *cluster.Config, l *life, fatal <-chan error) error {
	stop, err := s.beginJoin(f, c)
	if err != nil {
		s.close()
		return err
	}
	defer stop()
	return s.serve(ctx, l, fatal)
}

// run goes on until the node is what it shall be, and who is to go has gone. The error
// is a refusal that waiting does not mend.
func (j *joiner) run(ctx context.Context) error {
	rest := joinLook
	for ctx.Err() == nil {
		done, refused, err := j.step(ctx)
		if done || err != nil && !j.owned && isFinal(err) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			j.say("waiting", "reason", err.Error())
		}
		rest = afterwards(rest, refused)
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
	}
	return nil
}

// afterwards is how long to wait before the next step: a change that is refused again and
// again is asked for less and less often.
func afterwards(rest time.Duration, refused bool) time.Duration {
	if !refused {
		return joinLook
	}
	return min(2*rest, joinRest)
}

// step does what is next: it looks, and changes one thing, unless that is refused.
func (j *joiner) step(ctx context.Context) (done, refused bool, err error) {
	members, err := j.connection.Members(ctx)
	if err != nil {
		return false, isRefused(err), err
	}
	var own, old *api.Member
	for i := range members.Members {
		switch m := &members.Members[i]; m.ID {
		case j.self.ID:
			own = m
		case j.replace:
			old = m
		}
	}
	j.comes = j.comes || own == nil || !own.Voter
	switch {
	case own == nil:
		_, err := j.connection.AddMember(ctx, api.AddMemberBody{ID: j.self.ID, Raft: j.self.Raft, API: j.self.API, Learner: j.learner})
		if err == nil {
			j.say("this node was taken in: it is a learner")
		}
		return false, isRefused(err), err
	case !own.Voter && !own.Learner:
		j.say("catching up", "events_behind", own.Behind, "history_bytes_missing", own.MissingBytes, "reason", own.Reason)
		return false, false, nil
	case old != nil && own.Voter && j.comes:
		_, err := j.connection.RemoveMember(ctx, j.replace, false)
		if err == nil {
			j.say("the node that this one replaces was removed", "node", j.replace)
		}
		return false, isRefused(err), err
	case old != nil:
		j.say("the node that this one was to replace is still a member", "node", j.replace, "hint", "omni cluster remove "+j.replace)
	}
	j.say("this node is a member", "voter", own.Voter, "voters", members.Voters)
	return true, false, nil
}

// say tells what is new.
func (j *joiner) say(text string, args ...any) {
	if said := fmt.Sprint(append([]any{text}, args...)...); said != j.told {
		j.told = said
		j.logger.Info(text, args...)
	}
}

// isRefused tells of an answer that it takes more than a moment to change: not of a
// cluster that is without a leader just now.
func isRefused(err error) bool {
	var said *api.Error
	if !errors.As(err, &said) || !said.Definite {
		return false
	}
	return mayChange(said.Code) || isFinal(err)
}

// mayChange: who is down may come back; somebody else may have removed it.
func mayChange(code string) bool {
	return code == cluster.CodeMajority || code == cluster.CodeNoAnswer || code == cluster.CodeUnknownMember
}

// isFinal tells of a refusal that stays what it is.
func isFinal(err error) bool {
	var said *api.Error
	if !errors.As(err, &said) || !said.Definite || mayChange(said.Code) {
		return false
	}
	info, known := api.Lookup(said.Code)
	return known && !info.Retry
}

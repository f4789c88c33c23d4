package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/omnikernel/omnikernel/transport/api"
)

var errNoHealth = errors.New("the answer is not this API's")

// Health asks whether a node is worth asking. A node that says it is not is no
// error of the call.
func (c *Client) Health(ctx context.Context, opts ...Option) (api.Health, error) {
	s := settingsOf(opts)
	to, err := c.choose(ctx, &s, false)
	if err != nil {
		return api.Health{}, err
	}
	if s.timeout == 0 {
		s.timeout = c.options.Attempt
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	health, err := c.health(ctx, to)
	if err != nil {
		return health, &Unreachable{Op: "health", Servers: []string{to.name}, Cause: err}
	}
	return health, nil
}

func (c *Client) health(ctx context.Context, to *server) (health api.Health, err error) {
	response, err := c.attempt(ctx, to, &request{method: http.MethodGet, path: "/readyz"})
	if err != nil {
		return health, err
	}
	body, err := readAnswer(response)
	if err != nil {
		return health, err
	}
	if json.Unmarshal(body, &health) != nil || health.Status == "" {
		return health, errNoHealth
	}
	return health, nil
}

package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

func allow(action, resource string) permissions.Grant {
	return permissions.Grant{Effect: permissions.Allow, Action: action, Resource: resource}
}

// PE-1, PE-2
func TestGrants(t *testing.T) {
	cases := []struct {
		grant            permissions.Grant
		action, resource string
		want             permissions.Effect
	}{
		{allow("tool.call", "a/b"), "tool.call", "a/b", permissions.Allow},
		{allow("tool.call", "a/b"), "tool.call", "a/b/c", permissions.Deny},
		{allow("tool.call", "a/b"), "tool.call", "a", permissions.Deny},
		{allow("tool.call", "a/*"), "tool.call", "a/x", permissions.Allow},
		{allow("tool.call", "a/*"), "tool.call", "a/x/y", permissions.Deny},
		{allow("tool.call", "a/**"), "tool.call", "a", permissions.Allow},
		{allow("tool.call", "a/**"), "tool.call", "a/x/y", permissions.Allow},
		{allow("tool.call", "a/**"), "tool.call", "b/x", permissions.Deny},
		{allow("tool.call", "**"), "tool.call", "b", permissions.Allow},
		{allow("tool.*", "**"), "tool.call", "b", permissions.Allow},
		{allow("tool.*", "**"), "tools.call", "b", permissions.Deny},
		{allow("tool.call", "**"), "shared.read", "b", permissions.Deny},
		{permissions.Grant{Effect: permissions.Escalate, Action: "tool.call", Resource: "**"}, "tool.call", "b", permissions.Escalate},
		{permissions.Grant{Effect: permissions.Allow, Action: "tool.call", Resource: "**", NotAfterMillis: 4}, "tool.call", "b", permissions.Deny},
	}
	for _, c := range cases {
		a := model.NewAuthority()
		a.Issue("a", "", []permissions.Grant{c.grant})
		require.Equal(t, c.want, a.May("a", c.action, c.resource, 5), "%+v %s", c.grant, c.resource)
	}
	a := model.NewAuthority()
	a.Issue("a", "", []permissions.Grant{
		allow("tool.call", "**"),
		{Effect: permissions.Escalate, Action: "tool.call", Resource: "pay/**"},
		{Effect: permissions.Deny, Action: "tool.call", Resource: "pay/much"},
	})
	require.Equal(t, permissions.Allow, a.May("a", "tool.call", "look", 0))
	require.Equal(t, permissions.Escalate, a.May("a", "tool.call", "pay/little", 0))
	require.Equal(t, permissions.Deny, a.May("a", "tool.call", "pay/much", 0))
	require.Equal(t, permissions.Deny, a.May("nobody", "tool.call", "look", 0))
}

// DE-1, LC-10: authority is read upwards.
func TestAuthority(t *testing.T) {
	tree := func() *model.Authority {
		a := model.NewAuthority()
		all := []permissions.Grant{allow("tool.call", "**")}
		a.Issue("root", "", all)
		a.Issue("child", "root", all)
		a.Issue("grandchild", "child", all)
		return a
	}
	for _, agent := range []string{"root", "child", "grandchild"} {
		require.Empty(t, tree().Void(agent))
	}
	a := tree()
	a.Revoke("child")
	require.Empty(t, a.Void("root"))
	require.Contains(t, a.Void("child"), "was revoked")
	require.Contains(t, a.Void("grandchild"), "the token of child was revoked")

	a = tree()
	a.End("root")
	require.Empty(t, a.Void("root"))
	require.Contains(t, a.Void("grandchild"), "has ended")

	a = tree()
	a.GiveUp("root")
	require.Contains(t, a.Void("child"), "given up")
	a.Issue("another", "root", nil)
	require.Empty(t, a.Void("another"), "who came later is not meant")

	a = tree()
	a.RevokeGrant("root", 0)
	require.Equal(t, permissions.Deny, a.May("grandchild", "tool.call", "x", 0))
	a = tree()
	a.RevokeGrant("grandchild", 0)
	require.Equal(t, permissions.Allow, a.May("child", "tool.call", "x", 0))
	require.Contains(t, a.Void("nobody"), "no token")
}

//go:build root

package netns_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/netns"
)

// A namespace is made, entered by one thread only, plugged in, and removed; what
// was in it is gone with it.
func TestNamespace(t *testing.T) {
	require.NoError(t, netns.Usable(), "this test is about real namespaces")
	name := fmt.Sprintf("omj-%d-0-x", os.Getpid())
	require.NoError(t, netns.Add(name))
	require.Error(t, netns.Add(name), "there is one")
	list, err := netns.List()
	require.NoError(t, err)
	require.Contains(t, list, name)
	require.True(t, netns.Exists(name))
	own, err := netns.ID("")
	require.NoError(t, err)
	inside, err := netns.ID(name)
	require.NoError(t, err)
	require.NotEqual(t, own, inside)
	of, err := netns.OfProcess(os.Getpid())
	require.NoError(t, err)
	require.Equal(t, own, of)

	thread, err := netns.Enter(name)
	require.NoError(t, err)
	var here uint64
	require.NoError(t, thread.Do(func() (err error) {
		here, err = netns.ID("")
		return err
	}))
	require.Equal(t, inside, here)
	for range 100 {
		here, err := netns.ID("")
		require.NoError(t, err)
		require.Equal(t, own, here, "no other thread is in it")
	}
	broken := errors.New("broken")
	require.ErrorIs(t, thread.Do(func() error { return broken }), broken)
	require.Error(t, thread.Do(func() error { runtime.Goexit(); return nil }))
	thread.Close()
	thread.Close()
	require.Error(t, thread.Do(func() error { return nil }))

	card := netns.Interface{Name: "lab0", MAC: [6]byte{2, 5: 9}, Address: netip.MustParsePrefix("10.99.0.9/24"),
		Neighbours: []netns.Neighbour{{Address: netip.MustParseAddr("10.99.0.8"), MAC: [6]byte{2, 5: 8}}}}
	frames, err := netns.Plug(name, card)
	require.NoError(t, err)
	_, err = netns.Plug(name, card)
	require.Error(t, err, "the name is taken")
	find := func() (found *net.Interface, err error) {
		err = netns.Do(name, func() error {
			found, err = net.InterfaceByName("lab0")
			return err
		})
		return found, err
	}
	found, err := find()
	require.NoError(t, err)
	require.Equal(t, "02:00:00:00:00:09", found.HardwareAddr.String())
	require.NotZero(t, found.Flags&net.FlagUp)
	var known []byte
	require.NoError(t, netns.Do(name, func() (err error) {
		known, err = os.ReadFile("/proc/thread-self/net/arp")
		return err
	}))
	require.Regexp(t, `10\.99\.0\.8 .* 02:00:00:00:00:08`, string(known))
	require.NoError(t, frames.Close())
	_, err = find()
	require.Error(t, err, "the device is gone with its file")

	require.NoError(t, netns.Delete(name))
	require.False(t, netns.Exists(name))
	_, err = netns.Enter(name)
	require.Error(t, err)
	_, err = netns.Plug(name, card)
	require.Error(t, err)
	require.Error(t, netns.Delete(name))
}

// An interface that cannot be is refused before anything is made.
func TestInterface(t *testing.T) {
	address := netip.MustParsePrefix("10.99.0.9/24")
	for _, bad := range []netns.Interface{
		{Address: address}, {Name: "longer than 15 b", Address: address}, {Name: "a b", Address: address}, {Name: "lab0"},
	} {
		_, err := netns.Plug("", bad)
		require.Error(t, err, "%+v", bad)
	}
}

package netns

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Interface is a network card that Plug makes.
type Interface struct {
	Name       string       // at most 15 bytes
	MAC        [6]byte      // its hardware address
	Address    netip.Prefix // the host's address, with the length of the network's prefix
	Neighbours []Neighbour  // the other hosts of the network
}

// Neighbour is another host of the network.
type Neighbour struct {
	Address netip.Addr
	MAC     [6]byte
}

// maxName is IFNAMSIZ without its zero byte.
const maxName = 15

func (i *Interface) check() error {
	switch {
	case i.Name == "" || len(i.Name) > maxName || strings.ContainsAny(i.Name, "/ \t\n"):
		return fmt.Errorf("interface %q: a name has 1 to %d bytes, without blanks and slashes", i.Name, maxName)
	case !i.Address.IsValid():
		return fmt.Errorf("interface %s: it needs an address", i.Name)
	}
	return nil
}

// queue is how many frames wait for whoever reads the device's file: enough for a
// program that does not get a processor for a while.
const queue = 4096

// script is what `ip -batch` shall do once the device is there.
func (i *Interface) script() string {
	var s strings.Builder
	fmt.Fprintf(&s, "link set dev lo up\n")
	fmt.Fprintf(&s, "link set dev %s address %s\n", i.Name, net.HardwareAddr(i.MAC[:]))
	fmt.Fprintf(&s, "addr add %s dev %s\n", i.Address, i.Name)
	fmt.Fprintf(&s, "link set dev %s txqueuelen %d up\n", i.Name, queue)
	for _, n := range i.Neighbours {
		fmt.Fprintf(&s, "neigh replace %s lladdr %s dev %s nud permanent\n", n.Address, net.HardwareAddr(n.MAC[:]), i.Name)
	}
	return s.String()
}

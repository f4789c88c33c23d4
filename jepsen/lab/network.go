package lab

import (
	"fmt"
	"net"
	"net/netip"
)

// ClientHost is the host that this program is, on the lab's switch. What runs
// inside of the program and nodes shall reach, such as a service for tools, listens
// at Lab.Address.
const ClientHost = "client"

// Ports of every node, on its own host.
const (
	apiPort  = 7700
	raftPort = 7800
)

// network is the lab's, 10.213.N.0/24: this program is .1, node i is .11 and up.
type network int

const maxNetworks = 254

// card is a host's address and the hardware's.
type card struct {
	id      string
	address netip.Addr
	mac     [6]byte
}

func (n network) prefix() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 213, byte(n), 0}), 24)
}

// cards of this program, and of so many nodes.
func (n network) cards(nodes int) []card {
	cards := []card{n.card(ClientHost, 1)}
	for i := range nodes {
		cards = append(cards, n.card(nodeID(i), byte(11+i)))
	}
	return cards
}

func (n network) card(id string, last byte) card {
	return card{
		id: id, address: netip.AddrFrom4([4]byte{10, 213, byte(n), last}),
		mac: [6]byte{0x02, 'o', 'm', 'j', byte(n), last}, // 02: given by hand, one host's
	}
}

// freeNetwork is one that no lab has claimed and no address of this machine is in.
func freeNetwork(claimed map[network]bool) (network, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return 0, err
	}
	for n := network(1); n <= maxNetworks; n++ {
		if !claimed[n] && !anyWithin(addresses, n.prefix()) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("all of the networks 10.213.1.0/24 to 10.213.%d.0/24 are taken", maxNetworks)
}

func anyWithin(addresses []net.Addr, p netip.Prefix) bool {
	for _, a := range addresses {
		if other, err := netip.ParsePrefix(a.String()); err == nil && p.Overlaps(other.Masked()) {
			return true
		}
	}
	return false
}

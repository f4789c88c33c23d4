package httprequest

import (
	"errors"
	"net/netip"
	"syscall"
)

// control is asked about every address before it is dialled, after names were
// resolved: what a name means may change between a check and a use.
type control = func(network, address string, _ syscall.RawConn) error

var errPrivate = errors.New("the address is private")

// onlyPublic keeps a tool from what its manifest does not name: the node itself, its
// network, and the metadata services of clouds, whoever's name leads there.
func onlyPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(at.Addr()) {
		return errPrivate
	}
	return nil
}

// notPublic are the blocks of the IANA special-purpose registries (RFC 6890) that
// netip does not name, and the prefixes in which an IPv4 address can hide.
var notPublic = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	for _, block := range notPublic {
		if block.Contains(a) {
			return false
		}
	}
	return true
}

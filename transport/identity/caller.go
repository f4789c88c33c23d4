package identity

import (
	"crypto/tls"
	"time"
)

// Caller is whom a client's certificate speaks of, when the connection has a
// verified one: shown is false when it has none, or there is no TLS, and then
// the caller has to say in another way who it is. A certificate of another cluster,
// one that names nobody, and one that ended while the connection was open, are
// refused with a *Distrust.
func Caller(state *tls.ConnectionState, cluster string, now time.Time) (who Identity, shown bool, err error) {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		return Identity{}, false, nil
	}
	cert := state.VerifiedChains[0][0]
	who, err = Of(cert)
	switch {
	case err != nil:
		return Identity{}, true, err
	case who.Cluster != cluster:
		return Identity{}, true, &Distrust{Reason: WrongCluster, Cert: cert, Want: cluster}
	case now.After(cert.NotAfter):
		return Identity{}, true, &Distrust{Reason: Expired, Cert: cert}
	}
	return who, true, nil
}

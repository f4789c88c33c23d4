package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/omnikernel/omnikernel/transport/raftstream"
)

// tlsFiles name what mutual TLS between nodes needs, all three or none.
type tlsFiles struct{ cert, key, ca string }

// config loads the files; nil means plain TCP.
func (f tlsFiles) config() (*tls.Config, error) {
	if f == (tlsFiles{}) {
		return nil, nil
	}
	if f.cert == "" || f.key == "" || f.ca == "" {
		return nil, fmt.Errorf("--tls-cert, --tls-key and --tls-ca belong together: give all three or none")
	}
	cert, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	authorities, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, fmt.Errorf("--tls-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("--tls-ca %s: holds no certificate in PEM form", f.ca)
	}
	return raftstream.MutualTLS(cert, pool), nil
}

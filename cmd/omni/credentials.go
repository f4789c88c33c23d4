package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/identity"
)

// credentials are the files by which a call trusts nodes, and proves to them who makes
// it.
type credentials struct{ ca, cert, key string }

// What the files are named by when no flag does.
const (
	caVariable   = "OMNI_CACERT"
	certVariable = "OMNI_CERT"
	keyVariable  = "OMNI_KEY"
)

func (f *credentials) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.ca, "ca-cert", "", "file of the authority that signed the nodes' certificates (or $"+caVariable+")")
	flags.StringVar(&f.cert, "cert", "", "file of the certificate that says who you are (or $"+certVariable+")")
	flags.StringVar(&f.key, "key", "", "file of its key (or $"+keyVariable+")")
}

// named are the files: the flags say it before the environment does.
func (f credentials) named() credentials {
	if f.ca == "" {
		f.ca = os.Getenv(caVariable)
	}
	if f.cert == "" && f.key == "" {
		f.cert, f.key = os.Getenv(certVariable), os.Getenv(keyVariable)
	}
	return f
}

// config is what TLS is spoken with; nil when no file is named.
func (f credentials) config() (*tls.Config, error) {
	f = f.named()
	if f == (credentials{}) {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12} // a proxy before the nodes may know no more
	if f.ca != "" {
		raw, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, tell.Usage("", "--ca-cert: %v", err)
		}
		authorities, err := identity.Certificates(raw)
		if err != nil {
			return nil, tell.Usage("the file is ca.pem of omni tls init", "--ca-cert %s: %v", f.ca, err)
		}
		config.RootCAs = x509.NewCertPool()
		for _, one := range authorities {
			config.RootCAs.AddCert(one)
		}
	}
	switch {
	case f.cert == "" && f.key == "":
		return config, nil
	case f.cert == "" || f.key == "":
		return nil, tell.Usage("give both, or none", "--cert and --key belong together")
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, tell.Usage("omni tls inspect "+f.cert, "--cert and --key: %s", strings.TrimPrefix(err.Error(), "tls: "))
	}
	config.GetClientCertificate = identity.Shown(pair)
	return config, nil
}

package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"time"

	"github.com/omnikernel/omnikernel/transport/identity"
)

// How long certificates live unless somebody says otherwise.
const (
	Life          = 10 * 365 * 24 * time.Hour // of an authority
	NodeLife      = 365 * 24 * time.Hour
	PrincipalLife = 90 * 24 * time.Hour
)

// early is how long before its making a certificate begins: machines' clocks differ.
const early = time.Hour

// Authority signs for one cluster.
type Authority struct {
	Cluster string
	Cert    *x509.Certificate
	key     crypto.Signer
}

// New makes an authority with a fresh key, which lives from now on.
func New(cluster string, life time.Duration, now time.Time) (*Authority, error) {
	if rule := identity.NameRule(cluster); rule != "" {
		return nil, fmt.Errorf("cluster id %q: %s", cluster, rule)
	}
	key, serial, err := fresh()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		// Two authorities of a cluster stay apart for people, too.
		Subject:   pkix.Name{Organization: []string{"Omni Kernel"}, CommonName: fmt.Sprintf("%s authority %s", cluster, fmt.Sprintf("%032x", serial)[:8])},
		URIs:      []*url.URL{{Scheme: "spiffe", Host: cluster}},
		NotBefore: now.Add(-early), NotAfter: now.Add(life),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	cert, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &Authority{Cluster: cluster, Cert: cert, key: key}, nil
}

// ErrNoKey says that the key is of none of the certificates.
var ErrNoKey = errors.New("the key is of none of the authorities in the file")

// Read finds the authority that a key belongs to among the certificates of a file.
func Read(certs, key []byte) (*Authority, error) {
	all, err := identity.Certificates(certs)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(key)
	if block == nil {
		return nil, errors.New("holds no key in PEM form")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	signer, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("holds a %T, must be an ECDSA key", parsed)
	}
	for _, cert := range all {
		if !signer.PublicKey.Equal(cert.PublicKey) {
			continue
		}
		for _, u := range cert.URIs {
			if cert.IsCA && u.Scheme == "spiffe" && u.Path == "" {
				return &Authority{Cluster: u.Host, Cert: cert, key: signer}, nil
			}
		}
		return nil, errors.New("the certificate of this key is no authority's of a cluster: omni tls init makes one")
	}
	return nil, ErrNoKey
}

// CertPEM is the authority's certificate.
func (a *Authority) CertPEM() []byte { return encode(a.Cert) }

// KeyPEM is the key that signs.
func (a *Authority) KeyPEM() ([]byte, error) { return encodeKey(a.key) }

// fresh makes a key, and a serial number that nobody can guess.
func fresh() (*ecdsa.PrivateKey, *big.Int, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	return key, serial, err
}

func sign(template, parent *x509.Certificate, key crypto.PublicKey, with crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, with)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func encode(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// Issued is a certificate with its key.
type Issued struct {
	Cert    *x509.Certificate
	CertPEM []byte
	KeyPEM  []byte
}

// Pair is what a TLS configuration takes.
func (i Issued) Pair() (tls.Certificate, error) { return tls.X509KeyPair(i.CertPEM, i.KeyPEM) }

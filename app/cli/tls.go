package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"weftline/app/config"
)

// secured speaks TLS on a listener when there is a certificate. Clients may show one of their own; one that no
// authority of ours has signed ends the connection.
func secured(listener net.Listener, files config.TLS) (net.Listener, error) {
	if files.Certificate == "" {
		return listener, nil
	}
	own := &ownCertificate{files: files}
	if _, err := own.current(nil); err != nil {
		return nil, err
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: own.current, NextProtos: []string{"http/1.1"}}
	if files.ClientCA != "" {
		authorities, err := os.ReadFile(files.ClientCA)
		if err != nil {
			return nil, fmt.Errorf("tls-client-ca: %w", err)
		}
		settings.ClientCAs, settings.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
		if !settings.ClientCAs.AppendCertsFromPEM(authorities) {
			return nil, fmt.Errorf("tls-client-ca: there is no certificate in %s", files.ClientCA)
		}
	}
	return tls.NewListener(listener, settings), nil
}

// ownCertificate is read again when its file has changed: certificates are renewed while the server runs.
type ownCertificate struct {
	files config.TLS

	mu     sync.Mutex
	loaded *tls.Certificate
	asOf   time.Time
}

// current keeps the one before when the new one cannot be read, as while the two files are being written.
func (o *ownCertificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	file, err := os.Stat(o.files.Certificate)
	if o.loaded != nil && (err != nil || file.ModTime().Equal(o.asOf)) {
		return o.loaded, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tls-cert: %w", err)
	}
	fresh, err := tls.LoadX509KeyPair(o.files.Certificate, o.files.Key)
	switch {
	case err == nil:
		o.loaded, o.asOf = &fresh, file.ModTime()
	case o.loaded == nil:
		return nil, fmt.Errorf("tls-cert and tls-key: %w", err)
	}
	return o.loaded, nil
}

package activity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
)

// transportError sorts an error of the HTTP client into an error type and a cause without the URL, which
// may hold secrets.
func transportError(err error) (kind, cause string) {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var refused *refusedAddress
	var name *net.DNSError
	var operation *net.OpError
	switch {
	case errors.As(err, &refused):
		return "http.address_refused", refused.Error()
	case errors.Is(err, errTooManyRedirects):
		return "http.too_many_redirects", err.Error()
	case errors.As(err, &name):
		return "transport.dns", name.Error()
	case isTLS(err):
		return "transport.tls", err.Error()
	case errors.As(err, &operation) && operation.Op == "dial":
		return "transport.connect", err.Error()
	}
	return "transport.reset", err.Error()
}

func isTLS(err error) bool {
	var (
		record    tls.RecordHeaderError
		alert     tls.AlertError
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		expired   x509.CertificateInvalidError
	)
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) ||
		errors.As(err, &authority) || errors.As(err, &hostname) || errors.As(err, &expired)
}

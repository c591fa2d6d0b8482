package activity

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
)

// route is how a request gets to its server where the author says so: through a proxy, with certificates of
// their own.
type route struct {
	proxy *url.URL
	tls   *tls.Config
}

// readTransport takes proxy, the address of an HTTP or SOCKS5 proxy, and tls: {ca, cert, key, serverName}, all
// texts; ca, cert and key in PEM.
func (in *httpInputs) readTransport(given map[string]any) error {
	if text, err := textInput("proxy", given["proxy"]); err != nil {
		return err
	} else if text != "" {
		proxy, err := url.Parse(text)
		if err != nil || proxy.Host == "" || proxy.Scheme != "http" && proxy.Scheme != "https" && proxy.Scheme != "socks5" {
			return fmt.Errorf("proxy must be an address like http://proxy.example:3128")
		}
		in.route.proxy = proxy
	}
	if given["tls"] == nil {
		return nil
	}
	fields, err := textMap("tls", given["tls"])
	if err != nil {
		return err
	}
	in.route.tls, err = clientTLS(fields)
	return err
}

func clientTLS(fields map[string]string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: fields["serverName"]}
	for key := range fields {
		switch key {
		case "ca", "cert", "key", "serverName":
		default:
			return nil, fmt.Errorf("tls has ca, cert, key and serverName, not %s", key)
		}
	}
	if ca := fields["ca"]; ca != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			return nil, fmt.Errorf("tls.ca holds no certificate in PEM")
		}
	}
	if fields["cert"] == "" && fields["key"] == "" {
		return config, nil
	}
	pair, err := tls.X509KeyPair([]byte(fields["cert"]), []byte(fields["key"]))
	if err != nil {
		return nil, fmt.Errorf("tls.cert and tls.key are no pair in PEM")
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// clientFor is the client of a request: the common one, or one of its own where the author says how to get there.
// Addresses are judged as for every request; those behind a proxy are the proxy's business.
func (h *HTTP) clientFor(r route) *http.Client {
	if r.proxy == nil && r.tls == nil {
		return h.client
	}
	transport := newTransport(h.options)
	if r.tls != nil {
		transport.TLSClientConfig = r.tls
	}
	if r.proxy != nil {
		transport.Proxy = http.ProxyURL(r.proxy)
	}
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

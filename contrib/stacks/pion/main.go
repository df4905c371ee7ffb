// A CoAP server over pion's DTLS 1.2, by go-coap, for Trackbed. It answers every message with 2.04 (Changed), and
// every other request with the file of its path.
package main

import (
	"bytes"
	"crypto/tls"
	"flag"
	"io"
	"log"
	"os"
	"path"
	"path/filepath"

	"github.com/pion/dtls/v3"
	coapdtls "github.com/plgd-dev/go-coap/v3/dtls"
	"github.com/plgd-dev/go-coap/v3/message"
	"github.com/plgd-dev/go-coap/v3/message/codes"
	"github.com/plgd-dev/go-coap/v3/mux"
	"github.com/plgd-dev/go-coap/v3/net"
	"github.com/plgd-dev/go-coap/v3/options"
)

func main() {
	address := flag.String("address", "", "the address and port to listen on")
	certificate := flag.String("certificate", "", "the certificate chain in PEM")
	key := flag.String("key", "", "its key in PEM")
	site := flag.String("site", "", "the folder of the files to serve")
	flag.Parse()
	pair, err := tls.LoadX509KeyPair(*certificate, *key)
	if err != nil {
		log.Fatalf("trackbed-pion: %v", err)
	}
	listener, err := net.NewDTLSListener("udp", *address, &dtls.Config{
		Certificates: []tls.Certificate{pair},
		// Trackbed's DTLS library offers SRTP, and pion refuses a client whose offer it cannot take.
		SRTPProtectionProfiles: []dtls.SRTPProtectionProfile{
			dtls.SRTP_AES128_CM_HMAC_SHA1_80, dtls.SRTP_AEAD_AES_128_GCM, dtls.SRTP_AEAD_AES_256_GCM,
		},
	})
	if err != nil {
		log.Fatalf("trackbed-pion: %v", err)
	}
	router := mux.NewRouter()
	router.DefaultHandle(mux.HandlerFunc(func(w mux.ResponseWriter, r *mux.Message) {
		if err := answer(w, r, *site); err != nil {
			log.Printf("trackbed-pion: %v", err)
		}
	}))
	server := coapdtls.NewServer(options.WithMux(router))
	log.Fatalf("trackbed-pion: %v", server.Serve(listener))
}

func answer(w mux.ResponseWriter, r *mux.Message, site string) error {
	if r.Body() != nil {
		if _, err := io.Copy(io.Discard, r.Body()); err != nil {
			return err
		}
	}
	if r.Code() != codes.GET {
		return w.SetResponse(codes.Changed, message.TextPlain, bytes.NewReader([]byte("taken")))
	}
	requested, err := r.Path()
	if err != nil {
		return err
	}
	// It cannot leave the folder.
	content, err := os.ReadFile(filepath.Join(site, filepath.FromSlash(path.Clean("/"+requested))))
	if err != nil {
		return w.SetResponse(codes.NotFound, message.TextPlain, bytes.NewReader(nil))
	}
	return w.SetResponse(codes.Content, message.AppOctets, bytes.NewReader(content))
}

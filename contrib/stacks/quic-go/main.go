// A server of quic-go for Trackbed: exchanges on plain streams (trackbed-streams/1) and HTTP/3. With
// --disable, the first option of a curl that Trackbed starts, it is a client (client.go).
//
// It responds to a request with a body once it has all of it, and to one without a body with the file
// of that path. The framing of plain streams is described in crates/protocols/src/framing/mod.rs.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	streams = "trackbed-streams/1"
	// The longest path that Trackbed accepts.
	pathMax = 4096
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--disable" {
		if err := fetchAll(os.Args[2:]); err != nil {
			log.Fatalf("trackbed-quic-go: %v", err)
		}
		return
	}
	address := flag.String("address", "", "the address and port to listen on")
	certificate := flag.String("certificate", "", "the certificate chain in PEM")
	key := flag.String("key", "", "its key in PEM")
	site := flag.String("site", "", "the folder of the files to serve")
	early := flag.Bool("early", false, "accept early data")
	retry := flag.Bool("retry", false, "validate every client's address with a Retry packet")
	flag.Parse()
	if err := serve(*address, *certificate, *key, *site, *early, *retry); err != nil {
		log.Fatalf("trackbed-quic-go: %v", err)
	}
}

func serve(address, certificate, key, site string, early, retry bool) error {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	udp, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return err
	}
	socket, err := net.ListenUDP("udp", udp)
	if err != nil {
		return err
	}
	transport := &quic.Transport{
		Conn:                socket,
		VerifySourceAddress: func(net.Addr) bool { return retry },
	}
	tlsConfig := &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{streams, http3.NextProtoH3},
	}
	listener, err := transport.ListenEarly(tlsConfig, &quic.Config{
		Allow0RTT:          early,
		MaxIdleTimeout:     60 * time.Second,
		MaxIncomingStreams: 1000,
	})
	if err != nil {
		return err
	}
	web := &http3.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			return
		}
		if size > 0 {
			_, _ = io.WriteString(w, "taken")
			return
		}
		// ServeFile would redirect /index.html.
		opened, err := os.Open(file(site, r.URL.Path))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer opened.Close()
		http.ServeContent(w, r, r.URL.Path, time.Time{}, opened)
	})}
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			// Early data arrives before the handshake is complete, but the protocol is known by then.
			if connection.ConnectionState().TLS.NegotiatedProtocol == http3.NextProtoH3 {
				_ = web.ServeQUICConn(connection)
				return
			}
			answerAll(connection, site)
		}()
	}
}

func answerAll(connection *quic.Conn, site string) {
	for {
		stream, err := connection.AcceptStream(context.Background())
		if err != nil {
			return
		}
		go func() {
			if err := answer(stream, site); err != nil {
				// A part must not pass for the whole.
				stream.CancelRead(1)
				stream.CancelWrite(1)
			}
		}()
	}
}

func answer(stream *quic.Stream, site string) error {
	input := bufio.NewReader(stream)
	requested, err := request(input)
	if err != nil {
		return err
	}
	size, err := io.Copy(io.Discard, input)
	if err != nil {
		return err
	}
	if size > 0 {
		return respond(stream, 200, strings.NewReader("taken"))
	}
	opened, err := os.Open(file(site, requested))
	if err != nil {
		return respond(stream, 404, strings.NewReader("no such file"))
	}
	defer opened.Close()
	return respond(stream, 200, opened)
}

// The path of a request: 1, or 3 and a priority, then the path's length and the path.
func request(input *bufio.Reader) (string, error) {
	kind, err := input.ReadByte()
	if err != nil {
		return "", err
	}
	switch kind {
	case 1:
	case 3:
		if _, err := input.ReadByte(); err != nil {
			return "", err
		}
	default:
		return "", errors.New("not a request")
	}
	var size uint16
	if err := binary.Read(input, binary.BigEndian, &size); err != nil {
		return "", err
	}
	if size == 0 || size > pathMax {
		return "", errors.New("a path of a wrong length")
	}
	text := make([]byte, size)
	_, err = io.ReadFull(input, text)
	return string(text), err
}

func respond(stream *quic.Stream, status uint16, body io.Reader) error {
	if _, err := stream.Write([]byte{2, byte(status >> 8), byte(status)}); err != nil {
		return err
	}
	if _, err := io.Copy(stream, body); err != nil {
		return err
	}
	return stream.Close()
}

// The file of a path, which cannot leave the folder.
func file(site, requested string) string {
	return filepath.Join(site, filepath.FromSlash(path.Clean("/"+requested)))
}

// Go's TLS as either end: two connections, each with one exchange of HTTP/1.1. A client prints a line
// about each; a server prints its address first, and ends with its standard input.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	connect := flag.String("connect", "", "the server's address; without it, this is the server")
	listen := flag.String("listen", "", "the address to listen on")
	name := flag.String("name", "", "the server's name")
	groups := flag.String("groups", "", "numbers of groups, separated by commas")
	trust := flag.String("trust", "", "certificates that the peer must chain to")
	certificate := flag.String("certificate", "", "this end's chain")
	key := flag.String("key", "", "and its key")
	flag.Parse()
	config := &tls.Config{ServerName: *name, MinVersion: tls.VersionTLS13}
	for _, group := range strings.Split(*groups, ",") {
		number, err := strconv.Atoi(group)
		check(err)
		config.CurvePreferences = append(config.CurvePreferences, tls.CurveID(number))
	}
	if *trust != "" {
		pem, err := os.ReadFile(*trust)
		check(err)
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(pem)
		config.ClientCAs = config.RootCAs
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if *certificate != "" {
		pair, err := tls.LoadX509KeyPair(*certificate, *key)
		check(err)
		config.Certificates = []tls.Certificate{pair}
	}
	if *connect == "" {
		serve(*listen, config)
	}
	config.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	for range 2 {
		connection, err := tls.Dial("tcp", *connect, config)
		check(err)
		fmt.Fprintf(connection, "GET /small HTTP/1.1\r\nHost: %s\r\n\r\n", *name)
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		check(err)
		body, err := io.ReadAll(response.Body)
		check(err)
		state := connection.ConnectionState()
		fmt.Println(uint16(state.CurveID), state.DidResume, state.HelloRetryRequest, string(body))
		connection.Close()
	}
}

func serve(address string, config *tls.Config) {
	listener, err := net.Listen("tcp", address)
	check(err)
	fmt.Println(listener.Addr())
	go http.Serve(tls.NewListener(listener, config), http.HandlerFunc(
		func(writer http.ResponseWriter, request *http.Request) {
			state := request.TLS
			fmt.Fprintf(writer, "%d %v %v %d",
				state.CurveID, state.DidResume, state.HelloRetryRequest, len(state.PeerCertificates))
		}))
	io.ReadAll(os.Stdin)
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

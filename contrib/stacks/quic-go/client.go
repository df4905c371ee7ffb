package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// What curl writes about a transfer (--write-out '%{json}'), as far as Trackbed reads it.
type transfer struct {
	Number        int     `json:"urlnum"`
	Status        int     `json:"response_code"`
	Version       string  `json:"http_version"`
	Size          int64   `json:"size_download"`
	PreTransfer   float64 `json:"time_pretransfer"`
	StartTransfer float64 `json:"time_starttransfer"`
	Total         float64 `json:"time_total"`
}

// Fetches every URL over HTTP/3, one after another on one connection, and reports each as curl does. Of curl's
// options only --resolve NAME:PORT:ADDRESS and --cacert FILE matter here.
func fetchAll(words []string) error {
	var urls []string
	var name, address string
	roots := x509.NewCertPool()
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch word {
		case "--noproxy", "--write-out", "--output", "--resolve", "--cacert":
			if len(words) == 0 {
				return errors.New(word + " needs a value")
			}
		}
		switch {
		case word == "--resolve":
			parts := strings.SplitN(words[0], ":", 3)
			if len(parts) < 3 {
				return errors.New("--resolve needs NAME:PORT:ADDRESS")
			}
			name, address = parts[0], parts[2]+":"+parts[1]
			words = words[1:]
		case word == "--cacert":
			certificate, err := os.ReadFile(words[0])
			if err != nil {
				return err
			}
			roots.AppendCertsFromPEM(certificate)
			words = words[1:]
		case word == "--noproxy" || word == "--write-out" || word == "--output":
			words = words[1:]
		case strings.HasPrefix(word, "--"):
		default:
			urls = append(urls, word)
		}
	}
	begin := time.Now()
	connection, err := quic.DialAddr(
		context.Background(),
		address,
		&tls.Config{RootCAs: roots, ServerName: name, NextProtos: []string{http3.NextProtoH3}},
		&quic.Config{MaxIdleTimeout: 60 * time.Second},
	)
	if err != nil {
		return err
	}
	// Closing tells the server that nothing more will come.
	defer connection.CloseWithError(0x100, "")
	// Requests ask for no compression, so a length is that of the file.
	client := (&http3.Transport{DisableCompression: true}).NewClientConn(connection)
	report := json.NewEncoder(os.Stdout)
	for number, url := range urls {
		done, err := fetch(client, url, number, begin)
		if err != nil {
			return err
		}
		if err := report.Encode(done); err != nil {
			return err
		}
		begin = time.Now()
	}
	return nil
}

func fetch(client *http3.ClientConn, url string, number int, begin time.Time) (transfer, error) {
	done := transfer{Number: number, Version: "3"}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return done, err
	}
	done.PreTransfer = time.Since(begin).Seconds()
	response, err := client.RoundTrip(request)
	if err != nil {
		return done, err
	}
	defer response.Body.Close()
	done.StartTransfer = time.Since(begin).Seconds()
	done.Status = response.StatusCode
	done.Size, err = io.Copy(io.Discard, response.Body)
	done.Total = time.Since(begin).Seconds()
	return done, err
}

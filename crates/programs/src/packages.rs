//! Packages of well-known clients.

/// The Debian package of the program `executable`, if it is commonly used to test servers.
pub fn package_of(executable: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(_, names)| names.contains(&executable)).map(|(package, _)| *package)
}

const PACKAGES: &[(&str, &[&str])] = &[
    ("curl", &["curl"]),
    ("chromium", &["chromium"]),
    ("nghttp2-client", &["h2load", "nghttp"]),
    ("mosquitto-clients", &["mosquitto_pub", "mosquitto_sub", "mosquitto_rr"]),
    ("libcoap3-bin", &["coap-client", "coap-client-openssl", "coap-client-gnutls", "coap-server"]),
    ("openssl", &["openssl"]),
    ("gnutls-bin", &["gnutls-cli"]),
    ("iperf3", &["iperf3"]),
    ("iputils-ping", &["ping"]),
    ("bind9-dnsutils", &["dig"]),
    ("wget", &["wget"]),
    ("python3", &["python3"]),
    ("openssh-client", &["ssh", "scp"]),
    ("netcat-openbsd", &["nc"]),
    ("socat", &["socat"]),
];

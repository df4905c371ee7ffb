//! Models of published devices, each fitted to a stated part of the published figures.

/// A model of a device of the study of secure communication beside inference: even sharing of
/// `cores`.
///
/// These figures of each device, with AES-128-GCM, are fitted by hand: the frame rate at low load
/// (of any protocol) and at high load of those protocols whose frame rate the study gives, and the
/// processor time at low load. The rest of its tables is not used, and shows how well the model
/// generalises. The study's link is not known: the round trips are those of the scenario.
#[derive(Debug)]
pub(crate) struct ModelledDevice {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Cores that share the work evenly: the number of busy threads in the study's program, not the
    /// cores of the chip.
    pub cores: u64,
    /// What frames take, as `trackbed infer --durations` would write it.
    pub durations: &'static str,
    /// What messages take, as `trackbed calibrate --costs` would write it.
    pub costs: &'static str,
}

impl ModelledDevice {
    /// The source of the figures.
    pub const ABOUT: &'static str = "a device fitted to a part of the tables of \"Analysis of secure \
                                     communication overhead for on-device AI\"";

    /// The device with this name.
    pub fn find(name: &str) -> Option<&'static ModelledDevice> {
        DEVICES.iter().find(|device| device.name == name)
    }
}

pub(crate) const NAMES: &[&str] = &["raspberry-pi-5", "jetson-orin-nano"];

const DEVICES: [ModelledDevice; 2] = [
    // 2.93 frames a second at 190 % of a processor: 341 ms a frame, of which 34 by one thread and
    // 307 by two. A message that takes w takes two of three threads a third of their rate for 1.5
    // w: at 100 a second a frame rate of 2.81 (HTTPS) and 2.91 (DTLS) makes 0.8 and 0.14 ms. The
    // study gives no frame rate for HTTP/3 and MQTT.
    ModelledDevice {
        name: NAMES[0],
        cores: 2,
        durations: "trackbed-durations 1\nthreads 2\nframe 34000000 307000000\n",
        costs: "trackbed-costs 1\nprotocol http2 800000 0 0\nprotocol coap+dtls 140000 0 0\n\
                protocol other 400000 0 0\ncipher aes128gcm 0\ncipher aes256gcm 0\n\
                cipher chacha20poly1305 0\n",
    },
    // 8.0 frames a second at 102 %: one thread is always busy, so messages slow the frames down. At
    // 100 a second 6.75 (HTTPS), 7.3 (HTTP/3), 7.65 (MQTT) and 7.965 (DTLS) make 1.56, 0.875, 0.44
    // and 0.044 ms. The model does not include the graphics processor.
    ModelledDevice {
        name: NAMES[1],
        cores: 1,
        durations: "trackbed-durations 1\nthreads 1\nframe 25000000 100000000\n",
        costs: "trackbed-costs 1\nprotocol http2 1560000 0 0\nprotocol http3 875000 0 0\n\
                protocol mqtt 440000 0 0\nprotocol coap+dtls 44000 0 0\nprotocol other 875000 0 0\n\
                cipher aes128gcm 0\ncipher aes256gcm 0\ncipher chacha20poly1305 0\n",
    },
];

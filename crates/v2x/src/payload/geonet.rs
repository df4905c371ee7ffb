//! The headers between the signed payload and the message: of GeoNetworking from its common header
//! on (EN 302 636-4-1 section 9), and of the basic transport protocol (EN 302 636-5-1).

use super::Vehicle;
use crate::location::Position;
use crate::refusal::Refusal;
use crate::time::ItsTime;

/// The port of cooperative awareness messages (TS 103 248).
pub const PORT_CAM: u16 = 2_001;
/// The port of notifications of events.
pub const PORT_DENM: u16 = 2_002;

/// The message to `port` that a signed payload carries.
///
/// # Errors
/// If the headers are incomplete, of another kind, or to another port.
pub fn unwrap(payload: &[u8], port: u16) -> Result<&[u8], Refusal> {
    const WHAT: &str = "GeoNetworking packet";
    let short = || Refusal::malformed(WHAT, &"it ends too early");
    let (common, rest) = payload.split_first_chunk::<8>().ok_or_else(short)?;
    // The upper half of the first byte: 2 is BTP-B, without a source port (table 1).
    if common[0] >> 4 != 2 {
        return Err(Refusal::malformed(WHAT, &"its payload is not BTP-B"));
    }
    // The type of the header (table 9) decides how long the rest of it is.
    let extended = match common[1] >> 4 {
        2 => 48,
        3 | 4 => 44,
        5 => 28,
        _ => return Err(Refusal::malformed(WHAT, &"its header type carries no payload")),
    };
    let transport = rest.get(extended..).ok_or_else(short)?;
    let announced = usize::from(u16::from_be_bytes([common[4], common[5]]));
    if transport.len() != announced {
        let text = format!("its header declares {announced} B, but it has {}", transport.len());
        return Err(Refusal::malformed(WHAT, &text));
    }
    let (header, message) = transport.split_first_chunk::<4>().ok_or_else(short)?;
    let to = u16::from_be_bytes([header[0], header[1]]);
    if to != port {
        return Err(Refusal::malformed(WHAT, &format!("its destination port is {to}, not {port}")));
    }
    Ok(message)
}

/// The position of the sender in the header of a signed payload.
pub(crate) fn sender_position(payload: &[u8]) -> Option<Position> {
    // A single-hop broadcast has no sequence number before it.
    let vector = payload.get(if *payload.get(1)? == 0x50 { 8 } else { 12 }..)?;
    let number = |at| Some(i32::from_be_bytes(*vector.get(at..)?.first_chunk()?));
    Position { latitude: number(12)?, longitude: number(16)? }.known()
}

/// A message of `sender` at `time` to `port` that neighbours receive and do not forward (single-hop
/// broadcast).
pub fn wrap(sender: &Vehicle, time: ItsTime, port: u16, message: &[u8]) -> Vec<u8> {
    // Subtype 0 of type 5.
    let mut packet = common(0x50, message.len());
    packet.extend(position_vector(sender, time));
    packet.extend([0; 4]);
    push_transport(&mut packet, port, message);
    packet
}

/// A message of `sender` at `time` to `port` for all in a circle around it, `radius_m` metres wide,
/// which receivers forward (geographically scoped broadcast). `sequence` counts the sender's.
pub fn wrap_for_area(
    sender: &Vehicle,
    time: ItsTime,
    sequence: u16,
    radius_m: u16,
    port: u16,
    message: &[u8],
) -> Vec<u8> {
    // Subtype 0 of type 4 is a circle.
    let mut packet = common(0x40, message.len());
    packet.extend(sequence.to_be_bytes());
    packet.extend([0; 2]);
    packet.extend(position_vector(sender, time));
    packet.extend(sender.position.latitude.to_be_bytes());
    packet.extend(sender.position.longitude.to_be_bytes());
    packet.extend(radius_m.to_be_bytes());
    // No second radius, no angle, and two bytes that are reserved.
    packet.extend([0; 6]);
    push_transport(&mut packet, port, message);
    packet
}

/// Section 9.7: BTP-B, traffic class 2, from a mobile station, one hop or ten.
fn common(kind: u8, message_len: usize) -> Vec<u8> {
    let [high, low] = u16::try_from(message_len + 4).unwrap_or(u16::MAX).to_be_bytes();
    let hops = if kind == 0x50 { 1 } else { 10 };
    vec![0x20, kind, 2, 0x80, high, low, hops, 0]
}

/// The long position vector (section 9.5.2). The last bytes of its address are the station's
/// identifier, which changes with its pseudonym.
fn position_vector(sender: &Vehicle, time: ItsTime) -> [u8; 24] {
    let mut vector = [0; 24];
    // Section 6.3: the type of the station, and that its address was not configured by hand.
    vector[0] = sender.station.code() << 2;
    vector[2] = 2;
    vector[4..8].copy_from_slice(&sender.station_id.to_be_bytes());
    // Milliseconds, without the bits that do not fit.
    vector[8..12].copy_from_slice(&(time.as_millis() as u32).to_be_bytes());
    vector[12..16].copy_from_slice(&sender.position.latitude.to_be_bytes());
    vector[16..20].copy_from_slice(&sender.position.longitude.to_be_bytes());
    // One bit marks the position as accurate; the speed is a number of 15 bits with a sign.
    let speed = sender.speed_cm_s.min(16_383);
    vector[20..22].copy_from_slice(&(speed | 0x8000).to_be_bytes());
    vector[22..24].copy_from_slice(&sender.heading_ddeg.to_be_bytes());
    vector
}

fn push_transport(packet: &mut Vec<u8>, port: u16, message: &[u8]) {
    packet.extend(port.to_be_bytes());
    packet.extend([0; 2]);
    packet.extend(message);
}

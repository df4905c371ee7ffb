//! Each reason to refuse a message, by its own name, and everything else taken.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use trackbed_v2x::check::{Policy, Receiver};
use trackbed_v2x::job::{PortableVerifier, SignatureJob};
use trackbed_v2x::lab::{Infrastructure, Permissions, Terms};
use trackbed_v2x::location::Position;
use trackbed_v2x::message::MAX_MESSAGE_LEN;
use trackbed_v2x::payload::{Vehicle, bsm, cam, geonet, psid};
use trackbed_v2x::refusal::Signed;
use trackbed_v2x::sign::{Holder, Identification, Unsigned};
use trackbed_v2x::{Certificate, ItsTime, PointForm, Refusal, SignedMessage};

use crate::world::{PLACE, World, accept, sign};

fn hours(hours: u64) -> Duration {
    Duration::from_secs(hours * 3_600)
}

fn by_ticket(world: &World, terms: &Terms) -> Option<Refusal> {
    let ticket = world.infrastructure.ticket(&world.authority, 1, terms).unwrap();
    accept(&mut world.receiver(), &sign(&ticket, &world.cam(&world.cam_payload())), world.now).err()
}

#[test]
fn a_message_is_taken_with_its_certificate_and_then_by_digest() {
    let world = World::new();
    let mut receiver = world.receiver();
    let payload = world.cam_payload();
    let message = world.cam(&payload);
    let by_digest =
        world.ticket.sign(&message, Identification::Digest, PointForm::Compressed).unwrap();
    let unknown = Refusal::UnknownSigner(world.ticket.certificate().id());
    assert_eq!(accept(&mut receiver, &by_digest, world.now).unwrap_err(), unknown);
    let with_certificate = sign(&world.ticket, &message);
    let pending = receiver.check(&with_certificate, world.now).unwrap();
    assert_eq!(pending.jobs().len(), 2, "the message's signature and the ticket's");
    accept(&mut receiver, &with_certificate, world.now).unwrap();
    for form in [PointForm::XOnly, PointForm::Compressed, PointForm::Uncompressed] {
        for identification in [Identification::Digest, Identification::Certificate] {
            let bytes = world.ticket.sign(&message, identification, form).unwrap();
            let pending = receiver.check(&bytes, world.now).unwrap();
            assert_eq!(pending.jobs().len(), 1, "the ticket is known");
            let accepted = accept(&mut receiver, &bytes, world.now).unwrap();
            assert_eq!(accepted.message.payload(), payload);
        }
    }
    assert_eq!(receiver.known_tickets(), 1);
}

#[test]
fn times_are_held_to_their_limits() {
    let world = World::new();
    let payload = world.cam_payload();
    let mut receiver = world.receiver();
    let bsm = bsm::encode(&world.vehicle(), world.now, 5).unwrap();
    let mut at = |generation_time: ItsTime, expiry_time| {
        let message = Unsigned { generation_time, expiry_time, psid: psid::BSM, ..world.cam(&bsm) };
        accept(&mut receiver, &sign(&world.ticket, &message), world.now).err()
    };
    let micro = Duration::from_micros(1);
    let (past, future) = (Duration::from_secs(2), Duration::from_millis(200));
    let now = world.now;
    assert_eq!(at(now.before(past), None), None);
    assert_eq!(at(now.before(past + micro), None), Some(Refusal::TooOld { age: past + micro }));
    assert_eq!(at(now.after(future), None), None);
    let too_late = now.after(future + micro);
    assert_eq!(at(too_late, None), Some(Refusal::FromTheFuture { by: future + micro }));
    assert_eq!(at(now, Some(now.after(micro))), None);
    assert_eq!(at(now, Some(now)), Some(Refusal::Expired));
    assert_eq!(at(now.before(past), Some(now.before(micro))), Some(Refusal::Expired));
    let cam = Unsigned { expiry_time: Some(now.after(hours(1))), ..world.cam(&payload) };
    let refused = accept(&mut world.receiver(), &sign(&world.ticket, &cam), now).unwrap_err();
    assert!(matches!(refused, Refusal::Header(_)), "a CAM has no expiry time: {refused:?}");
}

#[test]
fn certificates_are_valid_when_they_say() {
    let world = World::new();
    let refused = by_ticket(&world, &Terms::new(world.now.after(hours(1)), 1));
    assert_eq!(refused, Some(Refusal::NotYetValid { of: Signed::Ticket }));
    let refused = by_ticket(&world, &Terms::new(world.start(), 1));
    assert_eq!(refused, Some(Refusal::CertificateExpired { of: Signed::Ticket }));
    assert_eq!(by_ticket(&world, &Terms::new(world.start(), 2)), None);
    assert_eq!(by_ticket(&world, &Terms::new(world.start(), 1_001)), Some(Refusal::OutlivesIssuer));
}

#[test]
fn certificates_are_valid_where_they_say() {
    let world = World::new();
    let circle = |radius, east_m| {
        let Position { latitude, longitude } = PLACE.moved_m(0.0, east_m);
        let centre = json!({ "latitude": latitude, "longitude": longitude });
        json!({ "circularRegion": { "center": centre, "radius": radius } })
    };
    let terms = |region| Terms { region, ..Terms::new(world.start(), 168) };
    // Neither a CAM's header nor a BSM's has a position. That in the message counts, then that of the
    // network's header, then the receiver's.
    let unknown = Position { latitude: 900_000_001, longitude: 1_800_000_001 };
    let (here, nowhere) = (world.vehicle(), Vehicle::car(1, unknown));
    let cam = |vehicle: &Vehicle, sender: &Vehicle| {
        let cam = cam::encode(vehicle, world.now, true).unwrap();
        (psid::CAM, geonet::wrap(sender, world.now, geonet::PORT_CAM, &cam))
    };
    let bsm = |vehicle: &Vehicle| (psid::BSM, bsm::encode(vehicle, world.now, 5).unwrap());
    let far = Some(PLACE.moved_m(5_000.0, 0.0));
    for ((psid, payload), position, is_known) in [
        (cam(&here, &nowhere), far, true),
        (cam(&nowhere, &here), far, true),
        (cam(&nowhere, &nowhere), Some(PLACE), true),
        (cam(&nowhere, &nowhere), None, false),
        (bsm(&here), None, true),
        (bsm(&nowhere), None, false),
    ] {
        let mut receiver = world.receiver_with(Policy { position, ..world.policy() });
        let message = Unsigned { psid, ..world.cam(&payload) };
        let mut by = |east_m| {
            let terms = terms(Some(circle(1_000, east_m)));
            let ticket = world.infrastructure.ticket(&world.authority, 1, &terms).unwrap();
            accept(&mut receiver, &sign(&ticket, &message), world.now).err()
        };
        let expected = |refusal| if is_known { refusal } else { Some(Refusal::NoPosition) };
        assert_eq!(by(990.0), expected(None));
        assert_eq!(by(1_010.0), expected(Some(Refusal::OutOfRegion)));
    }

    // An authority for a country: its tickets inherit that, and may not go beyond.
    let korea = json!({ "identifiedRegion": [{ "countryOnly": 410 }] });
    let authority = Terms { region: Some(korea), ..Terms::new(world.start(), 1_000) };
    let authority = world.infrastructure.authority(1, &authority).unwrap();
    let world = World { authority, ..World::new() };
    let payload = world.cam_payload();
    let of_korea = world.infrastructure.ticket(&world.authority, 1, &terms(None)).unwrap();
    let signed = sign(&of_korea, &world.cam(&payload));
    let refused = accept(&mut world.receiver(), &signed, world.now).unwrap_err();
    assert_eq!(refused, Refusal::OutOfRegion, "the country is unknown");
    let policy = Policy { countries: vec![410], ..world.policy() };
    accept(&mut world.receiver_with(policy), &signed, world.now).unwrap();
    let refused = by_ticket(&world, &terms(Some(circle(1_000, 0.0))));
    assert_eq!(refused, Some(Refusal::RegionBeyondIssuer));
}

#[test]
fn messages_come_from_where_radio_reaches() {
    let world = World::new();
    let payload = world.denm_payload(94);
    let mut receiver = world.receiver();
    let at = |place: Position| {
        sign(&world.ticket, &Unsigned { generation_location: Some(place), ..world.denm(&payload) })
    };
    accept(&mut receiver, &at(PLACE.moved_m(19_900.0, 0.0)), world.now).unwrap();
    let refused = accept(&mut receiver, &at(PLACE.moved_m(20_100.0, 0.0)), world.now).unwrap_err();
    let Refusal::TooFar { distance_m } = refused else { panic!("{refused:?}") };
    assert!((20_090..20_110).contains(&distance_m));
}

#[test]
fn notifications_have_a_place_and_a_certificate() {
    let world = World::new();
    let payload = world.denm_payload(94);
    let mut receiver = world.receiver();
    let message = world.denm(&payload);
    accept(&mut receiver, &sign(&world.ticket, &message), world.now).unwrap();
    // Ten minutes old is not too old for one.
    accept(&mut receiver, &sign(&world.ticket, &message), world.now.after(hours(1) / 6)).unwrap();
    let digest = world.ticket.sign(&message, Identification::Digest, PointForm::XOnly).unwrap();
    assert_eq!(accept(&mut receiver, &digest, world.now).unwrap_err(), Refusal::SignerForm);
    let nowhere = Unsigned { generation_location: None, ..message };
    let refused = accept(&mut receiver, &sign(&world.ticket, &nowhere), world.now).unwrap_err();
    assert!(matches!(refused, Refusal::Header(_)), "{refused:?}");
}

#[test]
fn permissions_are_held_to_what_is_said() {
    let world = World::new();
    let terms = |permissions| Terms { permissions, ..Terms::new(world.start(), 168) };
    let only_bsm = terms(Permissions::default().with(psid::BSM, None));
    assert_eq!(by_ticket(&world, &only_bsm), Some(Refusal::PsidNotPermitted(psid::CAM)));
    // The authority may permit CAMs by bitmaps of version 1 alone, and of three bytes.
    for bitmap in [None, Some(&[2, 0, 0][..]), Some(&[1, 0])] {
        let terms = terms(Permissions::default().with(psid::CAM, bitmap));
        assert_eq!(by_ticket(&world, &terms), Some(Refusal::IssueNotPermitted(psid::CAM)));
    }
    let unheard_of = terms(Permissions::vehicle().with(139, None));
    assert_eq!(by_ticket(&world, &unheard_of), Some(Refusal::IssueNotPermitted(139)));

    // Every cause of a DENM but that of the ticket, a stationary vehicle.
    let permitted = Permissions::default().with(psid::DENM, Some(&[1, 0, 0, 0x20]));
    let ticket = world.infrastructure.ticket(&world.authority, 2, &terms(permitted)).unwrap();
    let mut receiver = world.receiver();
    let mut taken = Vec::new();
    for cause in 0..=255 {
        let signed = sign(&ticket, &world.denm(&world.denm_payload(cause)));
        match receiver.check(&signed, world.now) {
            Ok(_) => taken.push(cause),
            Err(refused) => assert!(
                matches!(refused, Refusal::ServiceNotPermitted(_)),
                "cause {cause}: {refused:?}"
            ),
        }
    }
    assert_eq!(taken, [94]);
    receiver = world.receiver_with(Policy { look_inside: false, ..world.policy() });
    assert!(receiver.check(&sign(&ticket, &world.denm(&world.denm_payload(1))), world.now).is_ok());
}

#[test]
fn other_applications_are_not_served() {
    let world = World::new();
    let signed = sign(&world.ticket, &Unsigned { psid: 139, ..world.cam(b"signal phases") });
    assert_eq!(accept(&mut world.receiver(), &signed, world.now).unwrap_err(), Refusal::Psid(139));
}

#[test]
fn unknown_senders_are_refused() {
    let world = World::new();
    let payload = world.cam_payload();
    let infrastructure = &world.infrastructure;
    let unknown = infrastructure.authority(9, &Terms::new(world.start(), 1_000)).unwrap();
    let ticket = infrastructure.ticket(&unknown, 0, &Terms::new(world.start(), 1)).unwrap();
    let signed = sign(&ticket, &world.cam(&payload));
    let refused = accept(&mut world.receiver(), &signed, world.now);
    assert_eq!(refused.unwrap_err(), Refusal::UnknownIssuer(unknown.certificate().id()));
    // A receiver that trusts another root takes no authority of this one.
    let other =
        Infrastructure::new(&trackbed_core::Seed::of_run(2, 0), &Terms::new(world.start(), 10_000))
            .unwrap();
    let roots = [Arc::clone(other.root().certificate())];
    let mut receiver = Receiver::new(world.policy(), &roots, &mut PortableVerifier).unwrap();
    let refused =
        receiver.add_authority(Arc::clone(world.authority.certificate()), &mut PortableVerifier);
    let root = infrastructure.root();
    assert_eq!(refused.unwrap_err(), Refusal::UnknownIssuer(root.certificate().id()));
    // An authority is no root, a ticket no authority, and a root no ticket.
    for no_root in [&world.authority, &world.ticket] {
        let roots = [Arc::clone(no_root.certificate())];
        assert!(Receiver::new(world.policy(), &roots, &mut PortableVerifier).is_err());
    }
    let mut receiver = world.receiver();
    let ticket = Arc::clone(world.ticket.certificate());
    assert!(receiver.add_authority(ticket, &mut PortableVerifier).is_err());
    let refused = accept(&mut receiver, &sign(root, &world.cam(&payload)), world.now).unwrap_err();
    assert_eq!(refused, Refusal::UnknownIssuer(root.certificate().id()));
}

#[test]
fn a_ticket_whose_signature_is_wrong_is_not_kept() {
    let world = World::new();
    let mut signed = sign(&world.ticket, &world.cam(&world.cam_payload()));
    // The last byte of the ticket's s; after it come 67 bytes of the message's signature.
    let at = signed.len() - 67;
    signed[at] ^= 1;
    let mut receiver = world.receiver();
    let refused = accept(&mut receiver, &signed, world.now).unwrap_err();
    assert_eq!(refused, Refusal::BadSignature { of: Signed::Ticket });
    assert_eq!(receiver.known_tickets(), 0);
    // Missing verdicts are no good ones.
    assert!(receiver.settle(receiver.check(&signed, world.now).unwrap(), &[]).is_err());
    assert_eq!(receiver.known_tickets(), 0);
}

#[test]
fn tickets_are_kept_as_many_as_allowed() {
    let world = World::new();
    let payload = world.cam_payload();
    let mut receiver = world.receiver_with(Policy { tickets: 3, ..world.policy() });
    let terms = Terms::new(world.start(), 168);
    let tickets: Vec<Holder> = (0..5)
        .map(|number| world.infrastructure.ticket(&world.authority, number, &terms).unwrap())
        .collect();
    let heard = |receiver: &mut Receiver, number: usize, how| {
        let signed = tickets[number].sign(&world.cam(&payload), how, PointForm::XOnly).unwrap();
        receiver.accept(&signed, world.now, &mut |_: &SignatureJob| true).is_ok()
    };
    for number in 0..3 {
        assert!(heard(&mut receiver, number, Identification::Certificate));
    }
    // A message of the first arrives again, so the second has been silent for longest.
    assert!(heard(&mut receiver, 0, Identification::Digest));
    assert!(heard(&mut receiver, 3, Identification::Certificate));
    let known: Vec<bool> =
        (0..5).map(|number| heard(&mut receiver, number, Identification::Digest)).collect();
    assert_eq!(known, [true, false, true, true, false]);
    assert_eq!(receiver.known_tickets(), 3);
}

#[test]
fn forms_that_are_not_taken_have_names() {
    let world = World::new();
    let signed = sign(&world.ticket, &world.cam(&world.cam_payload()));
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = signed.clone();
        change(&mut bytes);
        accept(&mut world.receiver(), &bytes, world.now).unwrap_err()
    };
    assert_eq!(refused(&|bytes| bytes[0] = 2), Refusal::Version(2));
    assert_eq!(refused(&|bytes| bytes[1] = 0x80), Refusal::NotSigned);
    assert_eq!(refused(&|bytes| bytes[1] = 0x82), Refusal::NotSigned);
    assert_eq!(refused(&|bytes| bytes[2] = 1), Refusal::HashAlgorithm);
    assert_eq!(refused(&|bytes| bytes[5] = 0x81), Refusal::Nested);
    let longer = refused(&|bytes| bytes.push(0));
    assert_eq!(longer, Refusal::TrailingBytes { what: "message", len: 1 });
    let too_long = vec![0; MAX_MESSAGE_LEN + 1];
    let refusal = accept(&mut world.receiver(), &too_long, world.now).unwrap_err();
    assert_eq!(refusal, Refusal::TooLong { len: MAX_MESSAGE_LEN + 1, max: MAX_MESSAGE_LEN });
    // The signature is the last 67 bytes: its curve, the form of R, R, a byte of length-less s.
    let signature = signed.len() - 66;
    assert_eq!(signed[signature..signature + 2], [0x80, 0x80]);
    let refusal = refused(&|bytes| bytes[signature] = 0x81);
    assert!(refusal.to_string().contains("signature is an ecdsaBrainpoolP256r1Signature"));
    let fill = |bytes: &mut Vec<u8>| {
        bytes[signature + 1] = 0x81;
        bytes.drain(signature + 2..signature + 34);
    };
    assert_eq!(refused(&fill), Refusal::FillPoint { of: Signed::Message });
}

#[test]
fn a_huge_declared_quantity_takes_no_memory() {
    let certificate = World::new().ticket.certificate().bytes().to_vec();
    // The list of permissions: one byte of how many there are, three.
    let at = certificate.windows(6).position(|at| at == [1, 3, 0x80, 1, 36, 0x81]).unwrap();
    let mut hostile = certificate[..at].to_vec();
    hostile.extend([8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    hostile.extend(&certificate[at + 2..]);
    let refused = Certificate::decode(&hostile).unwrap_err();
    assert!(matches!(refused, Refusal::Malformed { .. }), "{refused:?}");
}

#[test]
fn messages_in_messages_are_not_followed() {
    // Signed data inside signed data, a thousand times.
    let mut nested = [3, 0x81, 0, 0x40].repeat(1_000);
    nested.extend([3, 0x80, 0]);
    assert_eq!(SignedMessage::decode(&nested).unwrap_err(), Refusal::Nested);
}

//! Revocation lists: whose they are, what they do, and when they are forgotten.

use std::time::Duration;

use trackbed_v2x::check::Receiver;
use trackbed_v2x::hash::CertificateHash;
use trackbed_v2x::job::PortableVerifier;
use trackbed_v2x::refusal::Signed;
use trackbed_v2x::revocation::sign_list;
use trackbed_v2x::sign::Identification;
use trackbed_v2x::{Certificate, ItsTime, PointForm, Refusal};

use crate::world::{World, accept, sign};

type Entry = (CertificateHash, ItsTime);

fn entry(certificate: &Certificate) -> Entry {
    (certificate.hash(), certificate.validity().end)
}

/// The root's list of these entries.
fn list(world: &World, revoked: &[Entry], issued: ItsTime) -> Vec<u8> {
    sign_list(world.infrastructure.root(), revoked, issued, issued).unwrap()
}

fn take(world: &World, receiver: &mut Receiver, list: &[u8]) -> Result<(), Refusal> {
    receiver.revoke(list, world.now, &mut PortableVerifier)
}

#[test]
fn who_is_revoked_is_not_believed_any_more() {
    let world = World::new();
    let payload = world.cam_payload();
    let message = world.cam(&payload);
    let mut receiver = world.receiver();
    let digest = world.ticket.sign(&message, Identification::Digest, PointForm::XOnly).unwrap();
    let with_certificate = sign(&world.ticket, &message);
    accept(&mut receiver, &with_certificate, world.now).unwrap();
    let pending = receiver.check(&digest, world.now).unwrap();

    let ticket = world.ticket.certificate();
    take(&world, &mut receiver, &list(&world, &[entry(ticket)], world.now)).unwrap();
    assert_eq!((receiver.revocations().len(), receiver.known_tickets()), (1, 0));
    for (bytes, expected) in [
        (&with_certificate, Refusal::Revoked(ticket.id())),
        (&digest, Refusal::UnknownSigner(ticket.id())),
    ] {
        assert_eq!(accept(&mut receiver, bytes, world.now).unwrap_err(), expected);
    }
    // What was under way by a ticket that was known may still be settled.
    assert!(receiver.settle(pending, &[true]).is_ok());
    assert_eq!(receiver.known_tickets(), 0);

    // An older list does not undo it, a newer one that leaves the ticket out does.
    let second = Duration::from_secs(1);
    let old = take(&world, &mut receiver, &list(&world, &[], world.now.before(second)));
    assert_eq!(old, Err(Refusal::TooOld { age: second }));
    take(&world, &mut receiver, &list(&world, &[], world.now.after(second))).unwrap();
    accept(&mut receiver, &with_certificate, world.now).unwrap();
}

#[test]
fn a_ticket_that_is_revoked_while_it_is_verified_is_not_kept() {
    let world = World::new();
    let payload = world.cam_payload();
    let signed = sign(&world.ticket, &world.cam(&payload));
    let mut receiver = world.receiver();
    let pending = receiver.check(&signed, world.now).unwrap();
    let ticket = world.ticket.certificate();
    take(&world, &mut receiver, &list(&world, &[entry(ticket)], world.now)).unwrap();
    assert_eq!(receiver.settle(pending, &[true, true]).unwrap_err(), Refusal::Revoked(ticket.id()));
    assert_eq!(receiver.known_tickets(), 0);
}

#[test]
fn an_authority_takes_its_tickets_with_it() {
    let world = World::new();
    let payload = world.cam_payload();
    let mut receiver = world.receiver();
    let authority = world.authority.certificate();
    take(&world, &mut receiver, &list(&world, &[entry(authority)], world.now)).unwrap();
    let signed = sign(&world.ticket, &world.cam(&payload));
    let refused = accept(&mut receiver, &signed, world.now).unwrap_err();
    assert_eq!(refused, Refusal::Revoked(authority.id()));
}

#[test]
fn lists_are_roots_to_sign() {
    let world = World::new();
    let mut receiver = world.receiver();
    let by_ticket = sign_list(&world.ticket, &[], world.now, world.now).unwrap();
    let of_root = list(&world, &[], world.now);
    // The CAM's identifier in place of the list's.
    let mut cam = of_root.clone();
    let at = cam.windows(4).position(|at| at == [0x40, 2, 1, 0]).unwrap();
    cam.splice(at..at + 4, [0x40, 1, 36]);
    let mut damaged = of_root;
    *damaged.last_mut().unwrap() ^= 1;
    for (list, expected) in [
        (by_ticket, Refusal::UnknownIssuer(world.ticket.certificate().id())),
        (cam, Refusal::Psid(36)),
        (damaged, Refusal::BadSignature { of: Signed::Message }),
    ] {
        assert_eq!(take(&world, &mut receiver, &list), Err(expected));
    }
}

#[test]
fn entries_are_forgotten_when_their_certificates_have_expired() {
    let world = World::new();
    let mut receiver = world.receiver();
    let soon = world.now.after(Duration::from_secs(10));
    let list = list(&world, &[(world.ticket.certificate().hash(), soon)], world.now);
    for (now, known) in [(world.now, 1), (soon, 0)] {
        receiver.revoke(&list, now, &mut PortableVerifier).unwrap();
        assert_eq!(receiver.revocations().len(), known);
    }
}

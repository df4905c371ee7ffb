//! Revocation lists: whose they are, what they do, and when they are forgotten.

use std::time::Duration;

use trackbed_v2x::Refusal;
use trackbed_v2x::job::PortableVerifier;
use trackbed_v2x::refusal::Signed;
use trackbed_v2x::revocation::sign_list;
use trackbed_v2x::sign::Identification;

use crate::world::{World, accept, sign};
use trackbed_v2x::PointForm;

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
    let next = world.now.after(Duration::from_secs(86_400));
    let entry = (ticket.hash(), ticket.validity().end);
    let root = world.infrastructure.root();
    let list = sign_list(root, &[entry], world.now, next).unwrap();
    receiver.revoke(&list, world.now, &mut PortableVerifier).unwrap();
    assert_eq!((receiver.revocations().len(), receiver.known_tickets()), (1, 0));
    assert_eq!(receiver.revocations().next_list(), Some(next));
    let refused = accept(&mut receiver, &with_certificate, world.now).unwrap_err();
    assert_eq!(refused, Refusal::Revoked(ticket.id()));
    assert_eq!(
        accept(&mut receiver, &digest, world.now).unwrap_err(),
        Refusal::UnknownSigner(ticket.id())
    );
    // What was under way by a ticket that was known may still be settled.
    assert!(receiver.settle(pending, &[true]).is_ok());
    assert_eq!(receiver.known_tickets(), 0);

    // An older list does not undo it, a newer one that leaves the ticket out does.
    let before = world.now.before(Duration::from_secs(1));
    let old = sign_list(root, &[], before, next).unwrap();
    let refused = receiver.revoke(&old, world.now, &mut PortableVerifier).unwrap_err();
    assert_eq!(refused, Refusal::TooOld { age: Duration::from_secs(1) });
    let new = sign_list(root, &[], next, next).unwrap();
    receiver.revoke(&new, world.now, &mut PortableVerifier).unwrap();
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
    let entry = (ticket.hash(), ticket.validity().end);
    let list = sign_list(world.infrastructure.root(), &[entry], world.now, world.now).unwrap();
    receiver.revoke(&list, world.now, &mut PortableVerifier).unwrap();
    assert_eq!(receiver.settle(pending, &[true, true]).unwrap_err(), Refusal::Revoked(ticket.id()));
    assert_eq!(receiver.known_tickets(), 0);
}

#[test]
fn an_authority_takes_its_tickets_with_it() {
    let world = World::new();
    let payload = world.cam_payload();
    let mut receiver = world.receiver();
    let authority = world.authority.certificate();
    let entry = (authority.hash(), authority.validity().end);
    let list = sign_list(world.infrastructure.root(), &[entry], world.now, world.now).unwrap();
    receiver.revoke(&list, world.now, &mut PortableVerifier).unwrap();
    let signed = sign(&world.ticket, &world.cam(&payload));
    let refused = accept(&mut receiver, &signed, world.now).unwrap_err();
    assert_eq!(refused, Refusal::Revoked(authority.id()));
}

#[test]
fn lists_are_roots_to_sign() {
    let world = World::new();
    let mut receiver = world.receiver();
    let list = sign_list(&world.ticket, &[], world.now, world.now).unwrap();
    let refused = receiver.revoke(&list, world.now, &mut PortableVerifier).unwrap_err();
    assert_eq!(refused, Refusal::UnknownIssuer(world.ticket.certificate().id()));
    let mut list = sign_list(world.infrastructure.root(), &[], world.now, world.now).unwrap();
    // The CAM's identifier in place of the list's.
    let at = list.windows(4).position(|at| at == [0x40, 2, 1, 0]).unwrap();
    list.splice(at..at + 4, [0x40, 1, 36]);
    let refused = receiver.revoke(&list, world.now, &mut PortableVerifier).unwrap_err();
    assert_eq!(refused, Refusal::Psid(36));
    let mut list = sign_list(world.infrastructure.root(), &[], world.now, world.now).unwrap();
    *list.last_mut().unwrap() ^= 1;
    let refused = receiver.revoke(&list, world.now, &mut PortableVerifier).unwrap_err();
    assert_eq!(refused, Refusal::BadSignature { of: Signed::Message });
}

#[test]
fn entries_are_forgotten_when_their_certificates_have_expired() {
    let world = World::new();
    let mut receiver = world.receiver();
    let ticket = world.ticket.certificate();
    let soon = world.now.after(Duration::from_secs(10));
    let list =
        sign_list(world.infrastructure.root(), &[(ticket.hash(), soon)], world.now, soon).unwrap();
    receiver.revoke(&list, world.now, &mut PortableVerifier).unwrap();
    assert_eq!(receiver.revocations().len(), 1);
    receiver.revoke(&list, soon, &mut PortableVerifier).unwrap();
    assert_eq!(receiver.revocations().len(), 0);
}

//! The security decision on a message, except for the arithmetic.
//!
//! [`Receiver::check`] decides everything that needs no curve: form, profile, times, places,
//! permissions, who signed. What is left is a [`Pending`] with one [`SignatureJob`], or two where
//! the certificate is new. The caller verifies them, in batches and in any order, and passes the
//! verdicts to [`Receiver::settle`]. In between the receiver may check other messages.
//!
//! The state that an unknown sender can create is bounded: a certificate is kept once its signature
//! has been verified, and at most [`Policy::tickets`] of them.

mod cache;
mod chain;
mod permission;
mod profile;
#[cfg(test)]
mod tests;
mod trust;

use std::sync::Arc;
use std::time::Duration;

use crate::certificate::{Certificate, Issuer};
use crate::job::{SignatureJob, SignatureVerifier};
use crate::location::{self, Position};
use crate::message::{SignedMessage, Signer};
use crate::payload::{self, psid};
use crate::refusal::{Refusal, Signed};
use crate::time::ItsTime;

use cache::Tickets;
use trust::Trust;

pub use trust::MAX_AUTHORITIES;

/// The policy of a receiver.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The receiver's position, if it has one; it also applies to messages without a position.
    pub position: Option<Position>,
    /// The codes of the countries of this position (UN M.49; 65,535 for the European Union), for
    /// certificates that are valid in countries.
    pub countries: Vec<u16>,
    /// The maximum distance at which a message with a position may have been generated, in metres.
    pub distance_max_m: u32,
    /// The maximum age of a CAM, a BSM, or any message except a DENM. 2 s by default, twenty times
    /// the interval of either.
    pub age_max: Duration,
    /// The maximum age of a DENM: it is repeated, but signed again each time. 10 min by default.
    pub denm_age_max: Duration,
    /// How far a sender's clock may be ahead of the receiver's. 200 ms by default.
    pub clock_ahead_max: Duration,
    /// The supported applications.
    pub psids: Vec<u64>,
    /// Whether payloads are decoded to check the certificate's permissions for their content: the
    /// special containers of a CAM, the cause of a DENM. Otherwise only the PSID is checked.
    pub look_inside: bool,
    /// The maximum number of stored tickets, at least one.
    pub tickets: usize,
    /// Whether the signature of a known ticket is verified again each time it arrives, as receivers
    /// did in ETRI's study of 2018.
    pub tickets_again: bool,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            position: None,
            countries: Vec::new(),
            distance_max_m: 20_000,
            age_max: Duration::from_secs(2),
            denm_age_max: Duration::from_secs(600),
            clock_ahead_max: Duration::from_millis(200),
            psids: vec![psid::BSM, psid::CAM, psid::DENM],
            look_inside: true,
            tickets: 4_096,
            tickets_again: false,
        }
    }
}

/// A receiver of messages: its policy, its trusted authorities and the certificates it knows.
#[derive(Clone, Debug)]
pub struct Receiver {
    policy: Policy,
    trust: Trust,
    tickets: Tickets,
}

/// A message that has passed every check except the signatures.
#[derive(Clone, Debug)]
pub struct Pending<'a> {
    message: SignedMessage<'a>,
    ticket: Arc<Certificate>,
    /// The message's, then the ticket's if that is new.
    jobs: Vec<SignatureJob>,
}

impl Pending<'_> {
    /// The signatures to verify: the message's, then the ticket's if that is new.
    pub fn jobs(&self) -> &[SignatureJob] {
        &self.jobs
    }

    /// The ticket of its signer.
    pub fn ticket(&self) -> &Arc<Certificate> {
        &self.ticket
    }
}

/// An accepted message and its signer.
#[derive(Clone, Debug)]
pub struct Accepted<'a> {
    /// The message.
    pub message: SignedMessage<'a>,
    /// The ticket of its signer.
    pub ticket: Arc<Certificate>,
}

impl Receiver {
    /// A receiver that trusts these roots. Only roots are trusted without proof; authorities must
    /// be certified by one ([`Receiver::add_authority`]).
    ///
    /// # Errors
    /// If one of `roots` is not self-signed, or does not match the profile.
    pub fn new(
        policy: Policy,
        roots: &[Arc<Certificate>],
        verifier: &mut impl SignatureVerifier,
    ) -> Result<Receiver, Refusal> {
        let tickets = Tickets::new(policy.tickets);
        let trust = Trust::new(roots, verifier)?;
        Ok(Receiver { policy, trust, tickets })
    }

    /// Adds an authority that one of the roots has certified.
    ///
    /// # Errors
    /// If the root is unknown, has not signed it or may not, or if there are already
    /// [`MAX_AUTHORITIES`].
    pub fn add_authority(
        &mut self,
        authority: Arc<Certificate>,
        verifier: &mut impl SignatureVerifier,
    ) -> Result<(), Refusal> {
        self.trust.add(authority, verifier)
    }

    /// The number of known tickets.
    pub fn known_tickets(&self) -> usize {
        self.tickets.len()
    }

    /// Checks everything of a message except its signatures. `now` is its arrival time.
    ///
    /// # Errors
    /// The first reason to refuse it. Cheap checks come first.
    pub fn check<'a>(&self, bytes: &'a [u8], now: ItsTime) -> Result<Pending<'a>, Refusal> {
        let message = SignedMessage::decode(bytes)?;
        let psid = message.psid();
        if !self.policy.psids.contains(&psid) {
            return Err(Refusal::Psid(psid));
        }
        let generated = profile::check_header(&message, psid)?;
        self.check_freshness(&message, psid, generated, now)?;
        let (ticket, is_new) = self.ticket(&message)?;
        let issuer = self.issuer(&ticket)?;
        check_dates(issuer, Signed::Authority, now)?;
        check_dates(&ticket, Signed::Ticket, now)?;
        if is_new {
            chain::check(&ticket, issuer, Signed::Ticket)?;
        }
        // Valid now, and when it signed.
        check_dates(&ticket, Signed::Ticket, generated)?;
        self.check_place(&message, &ticket, issuer)?;
        let ssp = permission::of(&ticket, psid).ok_or(Refusal::PsidNotPermitted(psid))?;
        if self.policy.look_inside {
            profile::check_payload(message.payload(), psid, ssp)?;
        }
        let mut jobs = vec![message.job(ticket.key(), &ticket.hash())?];
        jobs.extend(is_new.then(|| ticket.job(issuer)));
        Ok(Pending { message, ticket, jobs })
    }

    /// Takes the verdicts on [`Pending::jobs`], in their order. A new ticket with a valid signature
    /// is known from now on, whatever the verdict on its message.
    ///
    /// # Errors
    /// If a signature was not valid, or a verdict is missing.
    pub fn settle<'a>(
        &mut self,
        pending: Pending<'a>,
        verdicts: &[bool],
    ) -> Result<Accepted<'a>, Refusal> {
        let valid = |index: usize| verdicts.get(index).copied().unwrap_or(false);
        if pending.jobs.len() > 1 {
            if !valid(1) {
                return Err(Refusal::BadSignature { of: Signed::Ticket });
            }
            self.tickets.insert(Arc::clone(&pending.ticket));
        }
        if !valid(0) {
            return Err(Refusal::BadSignature { of: Signed::Message });
        }
        self.tickets.touch(&pending.ticket.id());
        Ok(Accepted { message: pending.message, ticket: pending.ticket })
    }

    /// Checks, verifies and settles one message.
    ///
    /// # Errors
    /// The first reason to refuse it.
    pub fn accept<'a>(
        &mut self,
        bytes: &'a [u8],
        now: ItsTime,
        verifier: &mut impl SignatureVerifier,
    ) -> Result<Accepted<'a>, Refusal> {
        let pending = self.check(bytes, now)?;
        let mut verdicts = Vec::with_capacity(pending.jobs.len());
        verifier.verify(&pending.jobs, &mut verdicts);
        self.settle(pending, &verdicts)
    }

    fn check_freshness(
        &self,
        message: &SignedMessage<'_>,
        psid: u64,
        generated: ItsTime,
        now: ItsTime,
    ) -> Result<(), Refusal> {
        let (age, ahead) = (now.since(generated), generated.since(now));
        if ahead > self.policy.clock_ahead_max {
            return Err(Refusal::FromTheFuture { by: ahead });
        }
        let age_max =
            if psid == psid::DENM { self.policy.denm_age_max } else { self.policy.age_max };
        if age > age_max {
            return Err(Refusal::TooOld { age });
        }
        match message.expiry_time() {
            Some(expiry) if expiry <= generated || expiry < now => Err(Refusal::Expired),
            _ => Ok(()),
        }
    }

    /// The signer's ticket, and whether it is new or must be verified as if it were.
    fn ticket(&self, message: &SignedMessage<'_>) -> Result<(Arc<Certificate>, bool), Refusal> {
        match message.signer() {
            Signer::Digest(id) => {
                Ok((Arc::clone(self.tickets.get(id).ok_or(Refusal::UnknownSigner(*id))?), false))
            }
            Signer::Certificate(parsed) => {
                let hash = parsed.hash();
                // By the whole hash: an attacker can find a collision of eight bytes.
                match self.tickets.get(&hash.id8()).filter(|known| known.hash() == hash) {
                    Some(known) => Ok((Arc::clone(known), self.policy.tickets_again)),
                    None => Ok((Arc::new(Certificate::new(parsed)?), true)),
                }
            }
        }
    }

    fn issuer(&self, ticket: &Certificate) -> Result<&Arc<Certificate>, Refusal> {
        match ticket.issuer() {
            Issuer::Certificate(id) => self.trust.authority(&id),
            Issuer::Itself => Err(Refusal::UnknownIssuer(ticket.id())),
        }
    }

    fn check_place(
        &self,
        message: &SignedMessage<'_>,
        ticket: &Certificate,
        issuer: &Certificate,
    ) -> Result<(), Refusal> {
        let told = message.generation_location();
        if let (Some(place), Some(here)) = (told, self.policy.position) {
            let distance_m = here.distance_m(&place) as u32;
            if distance_m > self.policy.distance_max_m {
                return Err(Refusal::TooFar { distance_m });
            }
        }
        // A ticket without a region is valid where its issuer is, and so on to the root.
        let regions = [Some(ticket), Some(issuer), self.trust.root_of(issuer)];
        let Some(region) = regions.iter().flatten().find_map(|one| one.tbs().at("region")) else {
            return Ok(());
        };
        // A CAM's header may not have a position (TS 103 097 section 7.1.1).
        let place = told.or_else(|| payload::position(message.psid(), message.payload()));
        let place = place.or(self.policy.position);
        if place.is_none() && region.at("identifiedRegion").is_none() {
            return Err(Refusal::NoPosition);
        }
        let place = place.unwrap_or_default();
        match location::contains(region, &place, &self.policy.countries) {
            true => Ok(()),
            false => Err(Refusal::OutOfRegion),
        }
    }
}

fn check_dates(certificate: &Certificate, of: Signed, now: ItsTime) -> Result<(), Refusal> {
    let validity = certificate.validity();
    if now < validity.start {
        return Err(Refusal::NotYetValid { of });
    }
    if now >= validity.end {
        return Err(Refusal::CertificateExpired { of });
    }
    Ok(())
}

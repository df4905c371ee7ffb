//! The path manager.

use std::fs;
use std::io;

use netlink_packet_core::{DefaultNla, NLM_F_ACK, NLM_F_DUMP};

use crate::mptcp_pm::attributes::{addr, nest, number, pm};
use crate::mptcp_pm::endpoint::{Endpoint, EndpointFlags, Limits};
use crate::mptcp_pm::error::PathManagerError;
use crate::mptcp_pm::request::{Message, Requests};

/// The kernel's path manager of one network namespace.
///
/// Any user can read; changes need CAP_NET_ADMIN.
#[derive(Debug)]
pub struct PathManager {
    requests: Requests,
    /// The kernel's number for it.
    family: u16,
}

impl PathManager {
    /// The path manager of the calling thread's current network namespace, even if the thread
    /// changes it later.
    ///
    /// # Errors
    /// [`PathManagerError::NoMptcp`] if the kernel does not have one.
    pub fn open() -> Result<PathManager, PathManagerError> {
        let mut requests = Requests::open()?;
        let family = requests.family()?;
        Ok(PathManager { requests, family })
    }

    /// All endpoints, including those created by the kernel.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn endpoints(&mut self) -> Result<Vec<Endpoint>, PathManagerError> {
        let what = || "list MPTCP endpoints".to_owned();
        let answers = self.send(GET_ADDR, &[], NLM_F_DUMP, what)?;
        let endpoint =
            |answer: &Message| answer.attributes().nested(pm::ADDRESS).and_then(Endpoint::parse);
        let endpoints: Option<Vec<Endpoint>> = answers.iter().map(endpoint).collect();
        endpoints.ok_or_else(|| PathManagerError::Garbled { what: what() })
    }

    /// Adds an endpoint; existing connections get a subflow from it if its flags say so.
    ///
    /// # Errors
    /// If the address or the number is taken, or the kernel refuses.
    pub fn add_endpoint(&mut self, endpoint: &Endpoint) -> Result<(), PathManagerError> {
        let what = || format!("add the MPTCP endpoint {}", endpoint.address);
        self.change(ADD_ADDR, &[endpoint.emit()], what)
    }

    /// The limits of subflows and announced addresses per connection.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn limits(&mut self) -> Result<Limits, PathManagerError> {
        let what = || "read the limits of MPTCP".to_owned();
        let answers = self.send(GET_LIMITS, &[], NLM_F_ACK, what)?;
        let limits = answers.first().and_then(|answer| {
            let attributes = answer.attributes();
            Some(Limits {
                subflows: attributes.u32(pm::SUBFLOWS)?,
                add_addresses_accepted: attributes.u32(pm::ADD_ADDRESSES_ACCEPTED)?,
            })
        });
        limits.ok_or_else(|| PathManagerError::Garbled { what: what() })
    }

    /// Sets the limits of subflows and announced addresses for new connections.
    ///
    /// # Errors
    /// If a limit exceeds 8, or the kernel refuses.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), PathManagerError> {
        let attributes = [
            number(pm::SUBFLOWS, limits.subflows.to_ne_bytes()),
            number(pm::ADD_ADDRESSES_ACCEPTED, limits.add_addresses_accepted.to_ne_bytes()),
        ];
        self.change(SET_LIMITS, &attributes, || "set the limits of MPTCP".to_owned())
    }

    /// Makes an endpoint a backup, or reverts that. If this is a change, every connection under the
    /// kernel's path manager immediately sends MP_PRIO on its first subflow from this address, once
    /// and without confirmation; subflows opened later declare it in their MP_JOIN. Without a
    /// change, nothing is sent.
    ///
    /// # Errors
    /// If there is no endpoint with this number, or the kernel refuses.
    pub fn set_backup(&mut self, id: u8, backup: bool) -> Result<(), PathManagerError> {
        let what = || format!("change the flags of the MPTCP endpoint {id}");
        // The kernel sets backup and fullmesh together, so fullmesh must be preserved.
        let now = self.endpoints()?.into_iter().find(|endpoint| endpoint.id == id);
        let kept = now.map_or(EndpointFlags::default(), |endpoint| endpoint.flags);
        let flag = EndpointFlags::BACKUP;
        let flags = if backup { kept | flag } else { kept - flag };
        let endpoint = [number(addr::ID, [id]), number(addr::FLAGS, flags.bits().to_ne_bytes())];
        self.change(SET_FLAGS, &[nest(pm::ADDRESS, &endpoint)], what)
    }

    fn change(
        &mut self,
        command: u8,
        attributes: &[DefaultNla],
        what: impl Fn() -> String,
    ) -> Result<(), PathManagerError> {
        self.send(command, attributes, NLM_F_ACK, what).map(drop)
    }

    fn send(
        &mut self,
        command: u8,
        attributes: &[DefaultNla],
        flags: u16,
        what: impl Fn() -> String,
    ) -> Result<Vec<Message>, PathManagerError> {
        self.requests.send(Message::new(self.family, command, attributes), flags, what)
    }
}

/// Whether sockets of the calling thread's namespace may speak MPTCP (sysctl `net.mptcp.enabled`).
///
/// # Errors
/// If the kernel has no MPTCP.
pub fn is_enabled() -> io::Result<bool> {
    Ok(fs::read_to_string("/proc/sys/net/mptcp/enabled")?.trim() != "0")
}

/// `MPTCP_PM_CMD_*` of linux/mptcp_pm.h.
const ADD_ADDR: u8 = 1;
const GET_ADDR: u8 = 3;
const SET_LIMITS: u8 = 5;
const GET_LIMITS: u8 = 6;
const SET_FLAGS: u8 = 7;

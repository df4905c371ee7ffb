//! Maps operators to endpoints of the kernel's path manager, and tells whether they are usable.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use trackbed_linux::mptcp_pm::{Endpoint, EndpointFlags};

use crate::phad::interfaces::Interface;

/// An operator of the handover table, and its endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its name, as in the table.
    pub name: String,
    /// Its endpoints.
    pub place: Place,
}

/// How endpoints are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The endpoints with an address of this interface, or bound to it.
    Interface(String),
    /// The endpoint with this address.
    Address(IpAddr),
    /// The endpoint with this number.
    Id(u8),
}

/// Parses the syntax of the command line: `NAME=INTERFACE`, `NAME=ADDRESS` or `NAME=id:NUMBER`.
impl FromStr for Operator {
    type Err = String;

    fn from_str(text: &str) -> Result<Operator, String> {
        let (name, place) = text.split_once('=').ok_or_else(|| {
            format!("\"{text}\" names no endpoint; write NAME=INTERFACE, for example A=wwan0")
        })?;
        let (name, place) = (name.trim(), place.trim());
        if name.is_empty() || place.is_empty() {
            return Err(format!("\"{text}\" is incomplete; write NAME=INTERFACE"));
        }
        Ok(Operator { name: name.to_owned(), place: place.parse()? })
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        if let Some(id) = text.strip_prefix("id:") {
            let number = id.parse().ok().filter(|id| *id > 0).map(Place::Id);
            return number.ok_or_else(|| {
                format!(
                    "\"{id}\" is not an endpoint number; `ip mptcp endpoint` lists them (1 to 255)"
                )
            });
        }
        Ok(text.parse().map_or_else(|_| Place::Interface(text.to_owned()), Place::Address))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Interface(name) => f.write_str(name),
            Place::Address(address) => write!(f, "{address}"),
            Place::Id(id) => write!(f, "id:{id}"),
        }
    }
}

/// An endpoint whose flag can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target {
    /// Its number.
    pub id: u8,
    /// Its address.
    pub address: IpAddr,
}

impl From<&Endpoint> for Target {
    fn from(endpoint: &Endpoint) -> Target {
        Target { id: endpoint.id, address: endpoint.address }
    }
}

/// The current state of an operator's endpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// All endpoints.
    pub targets: Vec<Target>,
    /// The endpoints that are backups.
    pub backups: Vec<Target>,
    /// Whether data can use the operator: an endpoint exists, and its interface is up.
    pub works: bool,
    /// Bytes received over their interfaces.
    pub received: u64,
}

/// The state of `operator`, from the kernel's endpoints and interfaces.
pub fn state(
    operator: &Operator,
    endpoints: &[Endpoint],
    interfaces: &BTreeMap<u32, Interface>,
) -> State {
    let mut state = State::default();
    let mut counted = Vec::new();
    for endpoint in endpoints.iter().filter(|endpoint| is_ours(endpoint)) {
        let bound = endpoint.interface.map(|index| index.get());
        let home = interfaces.iter().find(|(index, interface)| {
            interface.addresses.contains(&endpoint.address)
                && bound.is_none_or(|bound| bound == **index)
        });
        let belongs = match &operator.place {
            Place::Id(id) => endpoint.id == *id,
            Place::Address(address) => endpoint.address == *address,
            Place::Interface(name) => home.is_some_and(|(_, interface)| interface.name == *name),
        };
        if !belongs {
            continue;
        }
        let target = Target::from(endpoint);
        state.targets.push(target);
        if endpoint.flags.contains(EndpointFlags::BACKUP) {
            state.backups.push(target);
        }
        if let Some((index, interface)) = home {
            state.works |= interface.works;
            if !counted.contains(index) {
                counted.push(*index);
                state.received += interface.received;
            }
        }
    }
    state
}

/// Implicit endpoints belong to the kernel, which removes them.
fn is_ours(endpoint: &Endpoint) -> bool {
    !endpoint.flags.contains(EndpointFlags::IMPLICIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, works: bool, received: u64, addresses: &[&str]) -> Interface {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Interface { name: name.to_owned(), works, received, addresses }
    }

    fn endpoint(id: u8, address: &str, flags: EndpointFlags) -> Endpoint {
        Endpoint { id, ..Endpoint::new(address.parse().unwrap(), flags) }
    }

    #[test]
    fn endpoints_are_found_by_interface_address_and_number() {
        let interfaces = BTreeMap::from([
            (2, interface("wwan0", true, 700, &["10.0.0.1", "fd00::1"])),
            (3, interface("wwan1", false, 50, &["10.0.1.1"])),
        ]);
        let backup = EndpointFlags::SUBFLOW | EndpointFlags::BACKUP;
        let endpoints = [
            endpoint(1, "10.0.0.1", EndpointFlags::SUBFLOW),
            endpoint(2, "fd00::1", backup),
            endpoint(3, "10.0.1.1", EndpointFlags::SUBFLOW),
            endpoint(4, "10.0.0.1", EndpointFlags::IMPLICIT),
        ];
        let look = |text: &str| state(&text.parse().unwrap(), &endpoints, &interfaces);
        let ids = |targets: &[Target]| targets.iter().map(|target| target.id).collect::<Vec<_>>();
        let first = look("A=wwan0");
        assert_eq!((ids(&first.targets), ids(&first.backups)), (vec![1, 2], vec![2]));
        assert_eq!((first.works, first.received), (true, 700));
        assert_eq!(look("A=10.0.0.1").targets.len(), 1);
        let third = look("B=id:3");
        assert_eq!((ids(&third.targets), third.works, third.received), (vec![3], false, 50));
        assert_eq!(look("C=wwan9"), State::default());
    }

    #[test]
    fn an_operator_that_names_no_endpoint_is_refused_with_advice() {
        for (text, part) in
            [("A", "NAME=INTERFACE"), ("=wwan0", "complete"), ("A=id:0", "1 to 255")]
        {
            let error = text.parse::<Operator>().unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let operator: Operator = "A = fd00::1".parse().unwrap();
        assert_eq!(operator.place, Place::Address("fd00::1".parse().unwrap()));
    }
}

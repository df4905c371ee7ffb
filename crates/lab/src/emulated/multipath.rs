//! Several paths on the kernel: what its Multipath TCP supports, and how to configure namespaces.

use std::net::IpAddr;

use trackbed_connection::Transport;
use trackbed_emulator::namespace::{NetNamespace, set_sysctl};
use trackbed_linux::mptcp_pm::{Endpoint, EndpointFlags, Limits, PathManager, PathManagerError};
use trackbed_protocols::SCHEDULER_OF_LINUX;
use trackbed_substrate::Multipath;

use trackbed_scenario::{Cell, Plan};

/// Refuses what the kernel's MPTCP does not support, and suggests an alternative.
pub(super) fn check(plan: &Plan) -> Result<(), String> {
    plan.cells.iter().filter_map(|cell| Some((cell, of_kernel(cell)?))).try_for_each(
        |(cell, multipath)| {
            PathManager::open().map_err(|why| why.to_string())?;
            check_cell(cell, multipath)
        },
    )
}

fn check_cell(cell: &Cell, multipath: &Multipath) -> Result<(), String> {
    let congestion = &cell.endpoint.transport.congestion;
    let mut coupled = trackbed_tcp::algorithms().iter().filter(|entry| entry.is_coupled);
    let is_several = cell.network.paths.len() > 1 && cell.workload.phones() > 1;
    let why = if multipath.scheduler != SCHEDULER_OF_LINUX || multipath.opportunistic {
        format!(
            "the kernel's MPTCP has only its own scheduler, no {}\n  help: add --set \
             scheduler={SCHEDULER_OF_LINUX} --set opportunistic=false",
            multipath.scheduler
        )
    } else if coupled.any(|entry| entry.name == congestion) {
        format!(
            "the kernel's congestion control cannot couple paths, so it has no {congestion}\n  help: \
             add --set congestion=cubic"
        )
    } else if cell.radio.as_ref().is_some_and(|radio| radio.foresight().needs_scheduler()) {
        "the kernel's scheduler takes no warnings, so only the receiver can keep data off a \
         path\n  help: add --set radio.foresight=none,pha-d"
            .to_owned()
    } else if is_several {
        "the kernel gives all connections of a machine the same paths, and all phones share one \
         machine here\n  help: add --set workload.phones=1"
            .to_owned()
    } else {
        return Ok(());
    };
    Err(why)
}

/// The cell's multipath settings, if the kernel implements its protocol.
fn of_kernel(cell: &Cell) -> Option<&Multipath> {
    let is_tcp = cell.endpoint.protocol.capabilities().transport == Transport::Tcp;
    cell.endpoint.transport.tcp.multipath.as_ref().filter(|_| is_tcp)
}

/// Configures which addresses of a namespace start subflows; nothing if the cell has none, or if
/// all start at the other end.
pub(super) fn set_up(
    namespace: &NetNamespace,
    cell: &Cell,
    addresses: Vec<IpAddr>,
) -> Result<(), String> {
    let Some(multipath) = of_kernel(cell) else { return Ok(()) };
    let checksum = if multipath.checksum { "1" } else { "0" };
    let set = || -> Result<(), PathManagerError> {
        // Kernels without the setting have no checksums; the capture shows it.
        drop(set_sysctl("mptcp/checksum_enabled", checksum));
        let mut manager = PathManager::open()?;
        manager.set_limits(Limits { subflows: SUBFLOWS, add_addresses_accepted: 0 })?;
        addresses.into_iter().try_for_each(|address| {
            manager.add_endpoint(&Endpoint::new(address, EndpointFlags::SUBFLOW))
        })
    };
    namespace.run(set).map_err(|why| why.to_string())?.map_err(|why| why.to_string())
}

/// Besides the first one.
const SUBFLOWS: u32 = 2;

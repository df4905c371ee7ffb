//! Multipath TCP through middleboxes that modify segments (RFC 8684 sections 3.7 and 6).

use crate::paths::{Lane, Middlebox, World, client_ip, seconds};
use crate::track::*;

fn world(checksum: bool, paths: usize, middlebox: Middlebox) -> World {
    let endpoints = (1..paths).map(|path| Endpoint::subflow(client_ip(path))).collect();
    let config = MultipathConfig { checksum, endpoints, ..MultipathConfig::default() };
    let mut lanes: Vec<Lane> = (0..paths).map(|path| Lane::new(10, 10 + 5 * path as u64)).collect();
    lanes[paths - 1].middlebox = Some(middlebox);
    World::new(7, [config, MultipathConfig::default()], lanes)
}

/// The world when all bytes have come, within half a minute.
#[track_caller]
fn played(checksum: bool, paths: usize, middlebox: Middlebox) -> World {
    let mut world = world(checksum, paths, middlebox);
    world.begin([400_000, 500_000], Time::ZERO);
    world.finish(seconds(30));
    world
}

fn is_plain(mut world: World) -> bool {
    world.hosts.iter_mut().all(|host| host.connection().multipath_stats().plain)
}

#[track_caller]
fn assert_intact(mut world: World) {
    for host in &mut world.hosts {
        let stats = host.connection().multipath_stats();
        assert!(!stats.plain && stats.checksum_failures == 0, "{stats:?}");
    }
}

fn without_options(mut segment: Segment) -> Segment {
    segment.options.multipath = None;
    segment
}

#[test]
fn options_stripped_from_syns_make_it_plain_tcp() {
    // From the client's SYN, from the server's, or from both.
    for (up, down) in [(true, false), (false, true), (true, true)] {
        let strip: Middlebox = Box::new(move |from_client, segment| {
            let stripped = segment.has(Flags::SYN) && if from_client { up } else { down };
            vec![if stripped { without_options(segment) } else { segment }]
        });
        assert!(is_plain(played(false, 1, strip)), "up {up}, down {down}");
    }
}

/// A middlebox may drop SYNs that have options it does not know: the third repetition has none.
#[test]
fn multipath_tcp_is_offered_three_times() {
    for (lost, plain) in [(2, false), (3, true)] {
        let mut count = 0;
        let lose: Middlebox = Box::new(move |from_client, segment| {
            let hit = from_client && segment.has(Flags::SYN) && count < lost;
            count += u32::from(hit);
            if hit { vec![] } else { vec![segment] }
        });
        assert_eq!(is_plain(played(false, 1, lose)), plain, "{lost} lost");
    }
    // The server has heard the offer, and still answers it.
    let mut withdrawn = false;
    let lose: Middlebox = Box::new(move |from_client, segment| {
        let is_bare = segment.options.multipath.is_none();
        withdrawn |= from_client && segment.has(Flags::SYN) && is_bare;
        let hit = !from_client && segment.has(Flags::SYN) && !withdrawn;
        assert!(from_client || !segment.has(Flags::SYN) || !is_bare);
        if hit { vec![] } else { vec![segment] }
    });
    assert!(is_plain(played(false, 1, lose)));
}

#[test]
fn options_stripped_from_everything_but_syns_make_it_plain_tcp() {
    let strip: Middlebox = Box::new(|_, segment| {
        vec![if segment.has(Flags::SYN) { segment } else { without_options(segment) }]
    });
    assert!(is_plain(played(false, 1, strip)));
}

#[test]
fn a_path_on_which_options_are_stripped_is_not_joined() {
    for only_syns in [true, false] {
        let strip: Middlebox = Box::new(move |_, segment| {
            let stripped = segment.has(Flags::SYN) == only_syns;
            vec![if stripped { without_options(segment) } else { segment }]
        });
        let mut world = played(false, 2, strip);
        assert!(world.hosts.iter_mut().all(|host| host.connection().is_multipath()));
        assert!(world.hosts.iter().all(|host| {
            host.connection.as_ref().expect("it is there").paths().all(|path| path.id.0 == 0)
        }));
    }
}

#[test]
fn shifted_sequence_numbers_do_not_matter() {
    // RFC 8684 section 3.3.1: mappings count from the SYN, because of these.
    let shift: Middlebox = Box::new(|from_client, mut segment| {
        let (own, other) =
            if from_client { (77_777, 4_000_000_000) } else { (4_000_000_000, 77_777) };
        segment.sequence += own;
        segment.acknowledgment = segment.acknowledgment - other;
        for block in segment.options.sack.as_slice().to_vec() {
            assert_ne!(block.start, block.end);
        }
        segment.options.sack = Default::default();
        vec![segment]
    });
    assert_intact(played(true, 2, shift));
}

#[test]
fn split_segments_keep_their_mapping() {
    for checksum in [false, true] {
        // As segmentation offload does: both halves carry the options of the whole.
        let split: Middlebox = Box::new(|_, segment| {
            if segment.payload.len() < 1_000 {
                return vec![segment];
            }
            let mut first = segment.clone();
            first.payload = segment.payload.slice(..600);
            first.flags = Flags::ACK;
            let mut second = segment;
            second.sequence += 600;
            second.payload = second.payload.slice(600..);
            vec![first, second]
        });
        assert_intact(played(checksum, 2, split));
    }
}

#[test]
fn joined_segments_lose_a_mapping_and_the_data_comes_again() {
    // Two segments become one, with the options of the first.
    let mut held: [Option<Segment>; 2] = [None, None];
    let mut count = 0;
    let join: Middlebox = Box::new(move |from_client, segment| {
        let slot = &mut held[usize::from(from_client)];
        count += 1;
        let plain = segment.payload.len() > 500 && segment.payload.len() < 1_430;
        match slot.take() {
            Some(mut first) if plain && first.end() == segment.sequence => {
                first.payload = [&first.payload[..], &segment.payload[..]].concat().into();
                vec![first]
            }
            Some(first) => vec![first, segment],
            None if plain && count % 20 == 0 => {
                *slot = Some(segment);
                vec![]
            }
            None => vec![segment],
        }
    });
    let mut world = world(false, 2, join);
    world.begin([400_000, 500_000], Time::ZERO);
    world.finish(seconds(120));
    let repeated =
        |host: &mut crate::paths::Host| host.connection().multipath_stats().bytes_repeated;
    assert!(world.hosts.iter_mut().map(repeated).sum::<u64>() > 1_000);
}

/// Changes a byte of one in 50 of the server's segments with data, from the one numbered `first` on.
fn rewrite(first: usize) -> Middlebox {
    let mut count = 0;
    Box::new(move |from_client, mut segment| {
        count += usize::from(!from_client && segment.payload.len() > 1_000);
        if !from_client && segment.payload.len() > 1_000 && count % 50 == first {
            let mut payload = segment.payload.to_vec();
            payload[100] ^= 1;
            segment.payload = Bytes::from(payload);
        }
        vec![segment]
    })
}

#[test]
fn a_path_that_rewrites_data_is_given_up_for_another() {
    let mut world = world(true, 2, rewrite(40));
    world.begin([400_000, 3_000_000], Time::ZERO);
    // The track compares every byte.
    world.finish(seconds(60));
    let stats = world.hosts[0].connection().multipath_stats();
    assert!(stats.checksum_failures == 1 && !stats.plain, "{stats:?}");
}

#[test]
fn the_only_path_that_rewrites_data_becomes_plain_tcp() {
    let mut world = world(true, 1, rewrite(40));
    world.hosts[0].careless = true;
    world.hosts[1].careless = true;
    world.begin([500_000, 500_000], Time::ZERO);
    // The modified data arrives, all of it and once.
    world.finish(seconds(60));
    let stats = world.hosts[0].connection().multipath_stats();
    assert!(stats.checksum_failures == 1 && stats.plain, "{stats:?}");
    assert!(world.hosts[1].connection().multipath_stats().plain);
}

/// The segment that confirms Multipath TCP to the client also ends it, before a second path is opened.
#[test]
fn no_path_joins_what_became_plain_tcp() {
    let mut world = world(true, 2, rewrite(1));
    world.lanes.reverse();
    world.hosts[0].careless = true;
    world.begin([0, 500_000], Time::ZERO);
    world.finish(seconds(60));
    assert_eq!(world.hosts[0].connection().paths().count(), 1);
}

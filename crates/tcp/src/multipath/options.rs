//! The options of outgoing and incoming segments of a subflow (RFC 8684 sections 3.3 to 3.8).

use bytes::Bytes;

use super::carrier::Carrier;
use super::incoming::{Check, Range, checksum};
use super::link::{Notice, Stage};
use super::shared::Mode;
use crate::segment::{
    Capable, CapableKeys, DataNumber, Dss, Join, Mapping, MultipathOptions, ResetReason, Segment,
};
use crate::sequence::Seq;

impl Carrier<'_> {
    /// True while every acknowledgment is taken up by the handshake.
    pub(super) fn is_proving(&self) -> bool {
        matches!(self.link.stage, Stage::Proved(_)) || (self.offers_keys() && !self.shared.fin_sent)
    }

    /// True if the peer may not yet have both keys, and no data has carried them.
    fn offers_keys(&self) -> bool {
        self.link.is_first()
            && self.shared.initiator
            && self.shared.mode == Mode::Unconfirmed
            && self.link.outgoing.taken == 0
    }

    /// A segment with data: which data it is, and what has arrived.
    pub(super) fn on_data(&mut self, options: &mut MultipathOptions, sequence: Seq, data: &[u8]) {
        let Some((place, offset)) = self.link.outgoing.locate(sequence) else { return };
        let unconfirmed = self.shared.initiator && self.shared.mode == Mode::Unconfirmed;
        let first = unconfirmed && self.link.is_first() && place == 0;
        let fin = self.shared.fin_sent
            && !first
            && self.shared.send.fin_at() == Some(offset + data.len() as u64);
        let (subflow, len) = (place as u32 + 1, data.len() as u16 + u16::from(fin));
        let number = self.shared.own_number(offset);
        let checksum = self
            .shared
            .checksum
            .then(|| checksum(number, subflow, len, [&Bytes::copy_from_slice(data)]));
        if first {
            // Section 3.1: the first data carries the keys, and its mapping goes without saying.
            options.capable = self.both_keys(Some((len, checksum)));
            return;
        }
        let data = self.shared.announced_number(offset);
        let mapping = Some(Mapping { data, subflow, len, checksum });
        options.dss = Some(Dss { ack: Some(self.shared.acknowledgment()), mapping, fin });
    }

    /// An acknowledgment without data, with at most `room` bytes of options.
    pub(super) fn on_acknowledgment(&mut self, options: &mut MultipathOptions, room: usize) {
        if let Stage::Proved(proof) = self.link.stage {
            options.join = Some(Join::Ack(proof));
            return;
        }
        // A DATA_FIN without data alternates with the keys, because either may be lost.
        self.link.told_keys = self.offers_keys() && !(self.shared.fin_sent && self.link.told_keys);
        if self.link.told_keys {
            options.capable = self.both_keys(None);
            return;
        }
        match self.link.notices.pop_front() {
            Some(Notice::Priority(backup)) => options.priority = Some(backup),
            Some(Notice::AddAddress(option)) => options.add_address = Some(option),
            Some(Notice::RemoveAddress(id)) => options.remove_addresses.push(id),
            Some(Notice::Fail(number)) => options.fail = Some(number),
            Some(Notice::Acknowledge) | None => {}
        }
        let room = room.saturating_sub(options.wire_len());
        let ack = self.shared.acknowledgment();
        let mut dss = Dss { ack: Some(ack), mapping: None, fin: false };
        if let Some(offset) = self.shared.send.fin_at()
            && self.shared.fin_sent
            && !self.shared.send.fin_acknowledged
        {
            // Section 3.3.3: alone, DATA_FIN maps one byte to no place of the subflow.
            let number = self.shared.own_number(offset);
            let checksum = self.shared.checksum.then(|| checksum(number, 0, 1, []));
            let data = self.shared.announced_number(offset);
            dss.mapping = Some(Mapping { data, subflow: 0, len: 1, checksum });
            dss.fin = true;
        }
        for dss in [dss, Dss { mapping: None, fin: false, ..dss }] {
            let alone = MultipathOptions { dss: Some(dss), ..MultipathOptions::default() };
            if alone.wire_len() <= room {
                options.dss = Some(dss);
                break;
            }
        }
    }

    /// After a fallback: no options, except an infinite mapping if the peer does not know of it
    /// yet.
    pub(super) fn plain_options(
        &mut self,
        sequence: Seq,
        payload: &[u8],
    ) -> Option<Box<MultipathOptions>> {
        if payload.is_empty() {
            return match self.link.notices.pop_front() {
                Some(Notice::Fail(number)) => {
                    let fail = Some(number);
                    Some(Box::new(MultipathOptions { fail, ..MultipathOptions::default() }))
                }
                _ => None,
            };
        }
        if !self.shared.infinite {
            return None;
        }
        let (place, offset) = self.link.outgoing.locate(sequence)?;
        let data = self.shared.announced_number(offset);
        let checksum = self.shared.checksum.then_some(0);
        let mapping = Some(Mapping { data, subflow: place as u32 + 1, len: 0, checksum });
        let dss = Some(Dss { ack: None, mapping, fin: false });
        Some(Box::new(MultipathOptions { dss, ..MultipathOptions::default() }))
    }

    fn both_keys(&self, data: Option<(u16, Option<u16>)>) -> Option<Capable> {
        let keys = self.shared.keys()?;
        let (sender, receiver) = (keys.local.0, keys.remote.0);
        Some(Capable {
            checksum: self.shared.checksum,
            no_join_here: false,
            keys: CapableKeys::Both { sender, receiver, data },
        })
    }
}

impl Carrier<'_> {
    /// A segment without any option of Multipath TCP.
    pub(super) fn take_bare(&mut self) {
        match self.link.stage {
            // Section 3.7: options do not get through, so this is TCP.
            Stage::First if self.shared.mode == Mode::Unconfirmed => self.fall_back(),
            Stage::Proved(_) => self.link.reset = Some(ResetReason::MIDDLEBOX),
            _ => {}
        }
    }

    pub(super) fn take_options(
        &mut self,
        options: &MultipathOptions,
        segment: &Segment,
        window: u32,
    ) {
        if options.fast_close == Some(self.shared.local_key.0) {
            self.shared.events.broken = true;
            return;
        }
        if let Some(capable) = &options.capable {
            self.take_keys(capable, window);
        }
        match (options.join, self.link.stage) {
            // Our fourth segment was lost (section 3.2).
            (Some(Join::Ack(_)), Stage::Ready) => self.link.acknowledge(),
            (None, Stage::Proved(_)) => self.link.stage = Stage::Ready,
            _ => {}
        }
        if let Some(dss) = &options.dss {
            self.take_dss(dss, segment, window);
        }
        if let Some(backup) = options.priority {
            self.link.backup_there = backup;
        }
        if let Some(number) = options.fail {
            self.take_failure(number);
        }
        if let Some(option) = options.add_address {
            self.take_address(option);
        }
        self.shared.events.removed.extend(&options.remove_addresses);
    }

    fn take_keys(&mut self, capable: &Capable, window: u32) {
        let CapableKeys::Both { data, .. } = capable.keys else { return };
        let send = &mut self.shared.send;
        send.window_end = send.window_end.max(send.una + u64::from(window));
        let Some((len, sum)) = data.filter(|_| self.link.is_first()) else { return };
        let number = self.shared.peer_number(0);
        let checksum = sum.filter(|_| self.shared.checksum);
        let check = checksum.map(|checksum| Check { number, subflow: 1, len, checksum });
        self.link.incoming.map(Range { place: 0, offset: 0, len: len.into(), check });
        self.shared.confirm();
    }

    fn take_dss(&mut self, dss: &Dss, segment: &Segment, window: u32) {
        self.shared.confirm();
        if let Some(number) = dss.ack {
            self.take_acknowledgment(number, window);
        }
        let Some(mapping) = &dss.mapping else { return };
        self.shared.long_acks = matches!(mapping.data, DataNumber::Long(_));
        let Some((offset, number)) = self.shared.peer_offset(mapping.data) else { return };
        if mapping.len == 0 {
            return self.take_infinite();
        }
        let len = u64::from(mapping.len) - u64::from(dss.fin);
        if dss.fin {
            self.shared.receive.finish_at(offset + len);
            if segment.payload.is_empty() {
                self.link.acknowledge();
            }
        }
        if mapping.subflow == 0 || len == 0 {
            return;
        }
        let check = mapping.checksum.filter(|_| self.shared.checksum).map(|checksum| Check {
            number,
            subflow: mapping.subflow,
            len: mapping.len,
            checksum,
        });
        if let Some(place) = self.link.incoming.place(mapping.subflow) {
            self.link.incoming.map(Range { place, offset, len, check });
        }
    }

    /// DATA_ACK, and the window that counts from there (section 3.3.4).
    fn take_acknowledgment(&mut self, number: DataNumber, window: u32) {
        let Some(offset) = self.shared.own_offset(number) else { return };
        let send = &mut self.shared.send;
        let fin = send.fin_at().filter(|_| self.shared.fin_sent);
        let data = offset.min(send.end);
        if data > send.next || (offset > send.end && fin.map(|end| end + 1) != Some(offset)) {
            return;
        }
        send.window_end = send.window_end.max(data + u64::from(window));
        self.shared.events.progress |= send.acknowledge(data);
        if fin.map(|end| end + 1) == Some(offset) && !send.fin_acknowledged {
            send.fin_acknowledged = true;
            self.shared.events.progress = true;
        }
    }

    /// The peer has fallen back (section 3.7).
    fn take_infinite(&mut self) {
        if !self.shared.linear || self.shared.live != 1 {
            self.shared.events.broken = true;
        } else {
            self.revert();
        }
    }

    /// MP_FAIL on an acknowledgment: the peer's data checksum was wrong, and ours is the only path.
    fn take_failure(&mut self, number: u64) {
        if !self.shared.linear || self.shared.live != 1 {
            self.shared.events.broken = true;
            return;
        }
        self.revert();
        // The answer in the other direction.
        self.link.notices.push_back(Notice::Fail(number));
    }

    /// ADD_ADDR: ours in an echo, or the peer's, which is echoed (section 3.4.1).
    fn take_address(&mut self, option: crate::segment::AddAddress) {
        let Some(hmac) = option.hmac else {
            self.shared.events.echoed.push(option.id);
            return;
        };
        let Some(keys) = self.shared.keys() else { return };
        if keys.mirrored().address(option.id, option.address, option.port) == hmac {
            let echo = crate::segment::AddAddress { hmac: None, ..option };
            self.link.notices.push_back(Notice::AddAddress(echo));
            self.shared.events.announced.push(option);
        }
    }
}

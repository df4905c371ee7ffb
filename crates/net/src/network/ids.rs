//! The identifiers of a network's parts: numbers in the order of the builder's calls.

/// A host or router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// An interface of a host or router: one end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(pub(super) u32);

/// A two-way link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(super) u32);

/// A direction of a two-way link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the first end that the builder was given to the second.
    Forward,
    /// From the second end to the first.
    Backward,
}

/// One direction of one link, numbered so that both directions of a link are neighbours. It is
/// also the number of the interface at which the channel begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChannelId(pub(super) u32);

impl ChannelId {
    pub(super) fn new(link: LinkId, direction: Direction) -> ChannelId {
        ChannelId(link.0 * 2 + u32::from(direction == Direction::Backward))
    }

    pub(super) fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    pub(super) fn direction(self) -> Direction {
        if self.0.is_multiple_of(2) { Direction::Forward } else { Direction::Backward }
    }

    /// The interface at which the channel begins.
    pub(super) fn interface(self) -> InterfaceId {
        InterfaceId(self.0)
    }

    pub(super) fn reverse(self) -> ChannelId {
        ChannelId(self.0 ^ 1)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A medium that links share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MediumId(pub(super) u32);

/// Who wants to be woken, in the order in which they are at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Waker {
    Channel(ChannelId),
    Medium(MediumId),
}

impl MediumId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl NodeId {
    /// The index of the node in the order of the builder's calls.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// The index of the link in the order of the builder's calls.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

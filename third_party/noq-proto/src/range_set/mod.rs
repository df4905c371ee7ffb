mod array_range_set;

pub(crate) use array_range_set::ArrayRangeSet;

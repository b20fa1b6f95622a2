//! Placeholder: the crate's first rooms land in the next commits.

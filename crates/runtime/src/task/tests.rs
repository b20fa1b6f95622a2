//! Tasks end to end.

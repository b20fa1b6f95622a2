//! Placeholder.
pub(crate) const FUNCTIONS: &[crate::function::Function] = &[];
pub(crate) const REGEX: &[crate::function::Function] = &[];

//! Placeholder.
pub(crate) const FUNCTIONS: &[crate::function::Function] = &[];

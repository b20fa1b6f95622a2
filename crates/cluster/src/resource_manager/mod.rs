//! The ResourceManager: which slot belongs to which slot sharing group.

mod core;
mod handler;

pub use core::SlotManager;
pub(crate) use handler::ResourceManager;

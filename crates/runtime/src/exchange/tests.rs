//! Exchanges under random loads.

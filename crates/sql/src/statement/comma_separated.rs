//! Lists with commas.

use std::fmt;

/// Displays `items` with `, ` between them.
pub(crate) struct CommaSeparated<'a, T>(pub(crate) &'a [T]);

impl<T: fmt::Display> fmt::Display for CommaSeparated<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

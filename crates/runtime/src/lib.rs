//! The runtime: what runs inside a task. No SQL, no cluster.
//!
//! In the order a row meets them: [`source`] readers give rows, [`operator`]s change them, with [`expression`]s compiled from the graph's;
//! [`connector`] is what external systems implement; [`task_waker`] is what a task waits on.

pub mod connector;
pub mod expression;
pub mod operator;
pub mod source;
pub mod task_waker;

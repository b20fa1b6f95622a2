//! The runtime: what runs inside a TaskManager. No SQL, no cluster.
//!
//! In the order a row meets them: a [`task`] is one thread; [`source`] readers give rows, [`operator`]s change them, with
//! [`expression`]s compiled from the graph's; a [`chain`] joins operators by calls, an [`exchange`] joins tasks by channels;
//! [`connector`] is what external systems implement; [`task_waker`] is what a task waits on.

pub mod chain;
pub mod connector;
pub mod exchange;
pub mod expression;
pub mod operator;
pub mod source;
pub mod task;
pub mod task_waker;

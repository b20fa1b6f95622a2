//! The cluster: from a StreamGraph to tasks on slots, and the one clock that makes their results visible. No SQL.
//!
//! In the order a job meets them: [`dispatcher`] takes it in, [`job_master`] expands its graph and follows its tasks, a
//! [`resource_manager`] leases slots to its slot sharing groups, the [`task_executor`] runs its tasks. [`epoch`] hands out epochs, ticks
//! jobs and lets readers in; [`dml`] writes to tables, [`checkpoint`] makes state durable. [`gateway`] is how they speak to each other, [`mini_cluster`] all of them in one
//! process.
//!
//! Every component but the clock, the writer and the TaskExecutor is an actor: one owner task, a bounded mailbox, one exhaustive match.
//! What is decided is decided in `core` files, without locks, channels or time.

pub mod checkpoint;
pub mod config;
pub mod dispatcher;
pub mod dml;
pub mod epoch;
pub mod gateway;
pub mod job;
pub mod job_master;
mod job_store;
pub mod mini_cluster;
pub mod resource_manager;
mod spawn;
pub mod task_executor;

pub use config::ClusterConfig;
pub use dispatcher::JobClient;
pub use dml::{Logged, TableInfo, TableLocks, TableWriter, TransactionChanges};
pub use epoch::{EpochService, Isolation, ReadLease};
pub use gateway::ServingGateway;
pub use job::{JobDetails, JobKind, JobOptions, JobOverview, JobStatus, SlotDetails, SubtaskDetails, VertexDetails};
pub use job_master::{ExecutionGraph, RestartStrategy, execution_graph};
pub use mini_cluster::{ClusterServices, Durability, MiniCluster};

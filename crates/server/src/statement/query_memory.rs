//! What one query may use of the memory of all ad hoc reads; beyond it that query alone ends with 53200.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::runtime_env::RuntimeEnv;

use crate::session::Session;

/// A share of the pool of all queries.
#[derive(Debug)]
struct QueryMemory {
    all: Arc<dyn MemoryPool>,
    limit: usize,
    used: AtomicUsize,
}

impl fmt::Display for QueryMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueryMemory({} of {})", self.used.load(Ordering::Relaxed), self.limit)
    }
}

impl MemoryPool for QueryMemory {
    fn name(&self) -> &str {
        "query"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.all.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.all.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.used.fetch_add(additional, Ordering::Relaxed);
        self.all.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.used.fetch_sub(shrink, Ordering::Relaxed);
        self.all.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> DfResult<()> {
        let used = self.used.fetch_add(additional, Ordering::Relaxed) + additional;
        let grown = if used > self.limit {
            Err(DataFusionError::ResourcesExhausted(format!("a query may use {} bytes (query_memory).", self.limit)))
        } else {
            self.all.try_grow(reservation, additional)
        };
        if grown.is_err() {
            self.used.fetch_sub(additional, Ordering::Relaxed);
        }
        grown
    }

    fn reserved(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.limit)
    }
}

/// Where a query of the session runs.
pub(super) fn task_context(session: &Session) -> Arc<TaskContext> {
    let state = session.db.batch();
    let all = state.runtime_env();
    let pool = QueryMemory { all: Arc::clone(&all.memory_pool), limit: limit(session), used: AtomicUsize::new(0) };
    let runtime = RuntimeEnv { memory_pool: Arc::new(pool), ..RuntimeEnv::clone(all) };
    Arc::new(TaskContext::from(state).with_runtime(Arc::new(runtime)))
}

/// Bytes that a query of the session may use.
pub(super) fn limit(session: &Session) -> usize {
    usize::try_from(session.settings.bytes("query_memory")).unwrap_or(usize::MAX)
}

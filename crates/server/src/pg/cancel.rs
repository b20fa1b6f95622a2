//! Who may cancel what: the process number and secret of each connection, and the statement it runs now.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use millstream_types::Result;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Connections by process number.
pub(super) struct CancelRegistry {
    random: File,
    last_process: AtomicI32,
    connections: Mutex<HashMap<i32, Entry>>,
}

struct Entry {
    secret: i32,
    running: Option<oneshot::Sender<()>>,
}

impl CancelRegistry {
    /// A registry without connections.
    ///
    /// # Errors
    /// 58030 and others if the system has no random numbers.
    pub(super) fn new() -> Result<Arc<Self>> {
        let random = File::open("/dev/urandom")?;
        Ok(Arc::new(CancelRegistry { random, last_process: AtomicI32::new(0), connections: Mutex::default() }))
    }

    /// Gives a connection its number and secret.
    ///
    /// # Errors
    /// As [`CancelRegistry::new`].
    pub(super) fn register(self: &Arc<Self>) -> Result<Registration> {
        let mut secret = [0; 4];
        (&self.random).read_exact(&mut secret)?;
        let secret = i32::from_be_bytes(secret);
        let mut connections = self.connections.lock();
        let process = loop {
            // After two thousand million connections numbers come again; those in use are left out.
            let process = self.last_process.fetch_add(1, Ordering::Relaxed).wrapping_add(1) & i32::MAX;
            if process != 0 && !connections.contains_key(&process) {
                break process;
            }
        };
        connections.insert(process, Entry { secret, running: None });
        drop(connections);
        Ok(Registration { registry: Arc::clone(self), process, secret })
    }

    /// Cancels what the connection runs, if anything and if the secret is right. The caller is never told.
    pub(super) fn cancel(&self, process: i32, secret: i32) {
        if let Some(entry) = self.connections.lock().get_mut(&process)
            && entry.secret ^ secret == 0
            && let Some(running) = entry.running.take()
        {
            let _ = running.send(());
        }
    }
}

/// A connection's place in the registry, given up when dropped.
pub(super) struct Registration {
    registry: Arc<CancelRegistry>,
    pub(super) process: i32,
    pub(super) secret: i32,
}

impl Registration {
    /// A statement begins: what resolves when somebody cancels it. A cancel that came before is forgotten.
    pub(super) fn begin(&self) -> oneshot::Receiver<()> {
        let (running, cancelled) = oneshot::channel();
        if let Some(entry) = self.registry.connections.lock().get_mut(&self.process) {
            entry.running = Some(running);
        }
        cancelled
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.registry.connections.lock().remove(&self.process);
    }
}

//! The server process.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio_postgres::{Client, NoTls};

use super::oracle::POLL;

/// A start that takes longer has failed; so has a crash point that was not reached until then.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a process is to end.
#[derive(Clone, Debug)]
pub(crate) enum Kill {
    /// Only by the harness.
    Never,
    /// By SIGKILL, so long after it answered.
    After(Duration),
    /// By itself, at the n-th passing of a point; by SIGKILL if it does not get there soon.
    At { point: &'static str, passes: u32 },
}

pub(crate) struct Server {
    data: PathBuf,
    pub(crate) address: SocketAddr,
    http: SocketAddr,
    bug: Option<String>,
    child: Option<Child>,
}

fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

impl Server {
    pub(crate) fn new(data: &Path, bug: Option<&str>) -> Self {
        Server { data: data.to_owned(), address: free_port(), http: free_port(), bug: bug.map(str::to_owned), child: None }
    }

    pub(crate) fn files(&self) -> PathBuf {
        self.data.join("files")
    }

    /// Starts it and waits until it answers; false if it ended before, as it was told to.
    pub(crate) async fn start(&mut self, kill: &Kill) -> Result<bool, String> {
        let log = std::fs::File::options().create(true).append(true).open(self.data.join("server.log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
        command.args(["start", "--slots", "4", "--sql-addr", &self.address.to_string(), "--http-addr", &self.http.to_string()]);
        command.arg("--data-dir").arg(&self.data).env("MILLSTREAM_LOSE_UNSYNCED", "1").kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        if let Some(bug) = &self.bug {
            command.env("MILLSTREAM_BUG", bug);
        }
        if let Kill::At { point, passes } = kill {
            command.env("MILLSTREAM_CRASH", format!("{point}:{passes}"));
        }
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let mut poll = tokio::time::interval(POLL);
        let answered = tokio::time::timeout(PATIENCE, async {
            loop {
                if child.try_wait().unwrap().is_some() {
                    return false;
                }
                if let Ok(client) = connect(self.address).await
                    && client.simple_query("SELECT 1").await.is_ok()
                {
                    return true;
                }
                poll.tick().await;
            }
        });
        let answered = answered.await.map_err(|_| format!("the server does not start: {}", self.log()))?;
        if !answered && !matches!(kill, Kill::At { .. }) {
            return Err(format!("the server ended while it started: {}", self.log()));
        }
        self.child = Some(child);
        Ok(answered)
    }

    /// The last lines that it wrote.
    fn log(&self) -> String {
        let text = std::fs::read_to_string(self.data.join("server.log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(15).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Waits for the end that it was told; false if it did not come by itself.
    pub(crate) async fn wait_for_end(&mut self, kill: &Kill) -> bool {
        let Some(child) = &mut self.child else { return true };
        let patience = match kill {
            Kill::After(time) => *time,
            Kill::At { .. } => Duration::from_secs(4),
            Kill::Never => Duration::ZERO,
        };
        let ended = tokio::time::timeout(patience, child.wait()).await.is_ok();
        ended || matches!(kill, Kill::After(_))
    }

    /// SIGKILL, if it still runs.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take()
            && let Some(id) = child.id()
        {
            let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
            rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
            while child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
        }
    }
}

/// Connects as a client does.
#[allow(clippy::disallowed_methods)] // The connection's driver ends with its client.
pub(crate) async fn connect(address: SocketAddr) -> Result<Client, tokio_postgres::Error> {
    let config = format!("host={} port={} user=root dbname=dev connect_timeout=2", address.ip(), address.port());
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

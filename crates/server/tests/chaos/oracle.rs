//! What must be true after every start.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio_postgres::{Client, SimpleQueryMessage};

use super::clients::{ACCOUNTS, MONEY, Seen};
use super::server::{Server, connect};

pub(crate) const APPENDERS: usize = 3;
/// Until then every job that runs after a start must be there.
const PATIENCE: Duration = Duration::from_secs(20);
/// Another process tells nothing of itself: it is asked so often.
pub(crate) const POLL: Duration = Duration::from_millis(20);

/// What is known of all lives of the server.
pub(crate) struct Oracle {
    /// By appender: the last number that was acknowledged.
    pub(crate) acknowledged: Vec<i64>,
}

impl Default for Oracle {
    fn default() -> Self {
        Oracle { acknowledged: vec![0; APPENDERS] }
    }
}

/// Rows of text.
pub(crate) async fn rows(client: &Client, query: &str) -> Result<Vec<Vec<String>>, String> {
    let messages = client.simple_query(query).await.map_err(|e| match e.as_db_error() {
        Some(db) => format!("{query}: {} {}", db.code().code(), db.message()),
        None => format!("connection: {e}"),
    })?;
    let rows = messages.iter().filter_map(|m| match m {
        SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|i| row.get(i).unwrap_or("NULL").to_owned()).collect()),
        _ => None,
    });
    Ok(rows.collect())
}

pub(crate) async fn number(client: &Client, query: &str) -> Result<i64, String> {
    let found = rows(client, query).await?;
    let first = found.first().and_then(|r| r.first()).ok_or_else(|| format!("{query}: no rows"))?;
    first.parse().map_err(|_| format!("{query}: {first}"))
}

impl Oracle {
    /// Takes what clients have seen.
    pub(crate) fn learn(&mut self, seen: Seen) -> Result<(), String> {
        self.acknowledged = seen.acknowledged;
        if seen.wrong.is_empty() { Ok(()) } else { Err(seen.wrong.join("; ")) }
    }

    /// After a start, with clients at work. An error that starts with `connection` says only that the server is gone again.
    pub(crate) async fn check(&self, server: &Server) -> Result<(), String> {
        let client = connect(server.address).await.map_err(|e| format!("connection: {e}"))?;
        let sum = number(&client, "SELECT sum(balance) FROM accounts").await?;
        let expected = ACCOUNTS as i64 * MONEY;
        if sum != expected {
            return Err(format!("the accounts hold {sum} instead of {expected}"));
        }
        for (i, acknowledged) in self.acknowledged.iter().enumerate() {
            let query =
                format!("SELECT count(*), coalesce(min(n), 1), coalesce(max(n), 0), count(DISTINCT n) FROM appended WHERE client = {i}");
            let found = rows(&client, &query).await?;
            let of = |c: usize| found[0][c].parse::<i64>().unwrap();
            let (count, min, max, distinct) = (of(0), of(1), of(2), of(3));
            if count != max || min != 1 || distinct != count {
                return Err(format!("client {i}: {count} rows ({distinct} different) from {min} to {max}"));
            }
            if max < *acknowledged {
                return Err(format!("client {i}: {acknowledged} was acknowledged, and {max} is the last"));
            }
        }
        // One statement reads one epoch, so these agree also while clients write.
        let difference = "SELECT count(*) FROM ((SELECT client, n, last FROM per_client EXCEPT SELECT client, count(*), max(n) FROM appended GROUP BY client)
             UNION ALL (SELECT client, count(*), max(n) FROM appended GROUP BY client EXCEPT SELECT client, n, last FROM per_client)) AS d";
        if number(&client, difference).await? != 0 {
            return Err("a view is not its query".into());
        }
        self.check_files(server)?;
        self.check_jobs(&client).await
    }

    /// Every job runs or has finished, soon.
    async fn check_jobs(&self, client: &Client) -> Result<(), String> {
        let mut poll = tokio::time::interval(POLL);
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                let jobs = rows(client, "SHOW JOBS").await?;
                if let Some(failed) = jobs.iter().find(|j| matches!(j[2].as_str(), "FAILED" | "CANCELED")) {
                    return Err(format!("a job has failed: {failed:?}"));
                }
                if jobs.iter().all(|j| matches!(j[2].as_str(), "RUNNING" | "FINISHED")) {
                    return Ok(());
                }
                poll.tick().await;
            }
        });
        waited.await.map_err(|_| "a job does not come back".to_owned())?
    }

    /// The numbers in the sink's files: none twice. Two subtasks take turns, so each half has no gap.
    fn check_files(&self, server: &Server) -> Result<(), String> {
        let (mut seen, mut halves) = (BTreeSet::new(), [vec![], vec![]]);
        let Ok(files) = std::fs::read_dir(server.files().join("out")) else { return Ok(()) };
        for file in files.map(|f| f.unwrap().path()) {
            if file.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.')) {
                continue;
            }
            for line in std::fs::read_to_string(&file).unwrap().lines() {
                let value: serde_json::Value = serde_json::from_str(line).map_err(|e| format!("{}: {e}: {line}", file.display()))?;
                let n = value["n"].as_i64().ok_or_else(|| format!("{}: {line}", file.display()))?;
                if !seen.insert(n) {
                    return Err(format!("number {n} is in the files twice"));
                }
                halves[usize::try_from(n.rem_euclid(2)).unwrap()].push(n);
            }
        }
        for half in &mut halves {
            half.sort_unstable();
            if let Some(gap) = half.windows(2).find(|w| w[1] != w[0] + 2) {
                return Err(format!("numbers between {} and {} are missing in the files", gap[0], gap[1]));
            }
            if half.first().is_some_and(|n| *n > 2) {
                return Err(format!("numbers before {} are missing in the files", half[0]));
            }
        }
        Ok(())
    }

    /// When the bounded source has ended, its view is the batch query over the same events.
    pub(crate) async fn check_end(&self, server: &Server) -> Result<(), String> {
        let client = connect(server.address).await.map_err(|e| format!("connection: {e}"))?;
        let mut poll = tokio::time::interval(POLL);
        let finished = tokio::time::timeout(PATIENCE * 2, async {
            loop {
                let jobs = rows(&client, "SHOW JOBS").await?;
                if jobs.iter().any(|j| j[0] == "bids" && j[2] == "FINISHED") {
                    return Ok::<(), String>(());
                }
                poll.tick().await;
            }
        });
        finished.await.map_err(|_| "the bounded source does not end".to_owned())??;
        let view = rows(&client, "SELECT channel, n, highest FROM bids ORDER BY channel").await?;
        let batch =
            rows(&client, "SELECT channel, count(*) AS n, max(price) AS highest FROM bid GROUP BY channel ORDER BY channel").await?;
        if view != batch {
            return Err(format!("the view over Nexmark has {} rows that are not those of a clean run ({})", view.len(), batch.len()));
        }
        Ok(())
    }
}

//! Real server processes, killed again and again: at random moments and at every named point. Four workloads whose right answer is known by
//! construction are checked after every start:
//!
//! - transfers between accounts: the sum of all accounts is the same in every read, also while the server comes back;
//! - appends with acknowledgements: every client's rows are 1..n without a gap, and n is not below what was acknowledged;
//! - a sequence into an exactly-once file sink: no number missing, none twice;
//! - Nexmark counts in a view: equal to the batch query over the same events when the source has ended.
//!
//! `make chaos SEED=n ROUNDS=r`; without them a short run. Every failure prints the seed: the schedule of kills is the same then (what the
//! processes have done at each kill is not). Afterwards each planted bug must be found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod clients;
mod oracle;
mod server;

use std::time::Duration;

use millstream_types::faults::{Bug, CRASH_POINTS};

use self::clients::Clients;
use self::oracle::Oracle;
use self::server::{Kill, Server};

/// Rounds of the short run.
const SHORT_ROUNDS: u64 = 20;
/// Rounds in which a planted bug must be found.
const BUG_ROUNDS: u64 = 12;

/// SplitMix64: every run of a seed is the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().filter(|v| !v.is_empty()).map(|v| v.parse().unwrap_or_else(|_| panic!("{name} is no number: {v}")))
}

/// Every point in turn, random moments in between.
fn kill(round: u64, random: &mut Random, bug: Option<Bug>) -> Kill {
    if bug == Some(Bug::CommitBeforeDurable) {
        // Its window is narrow: this is where it opens.
        return Kill::At { point: "sink-prepared", passes: 1 + random.below(3) as u32 };
    }
    if round.is_multiple_of(4) {
        return Kill::After(Duration::from_millis(50 + random.below(2500)));
    }
    let point = CRASH_POINTS[(random.next() % CRASH_POINTS.len() as u64) as usize];
    Kill::At { point, passes: 1 + random.below(4) as u32 }
}

/// Runs rounds until one fails; says which points were hit.
async fn rounds(seed: u64, rounds: u64, bug: Option<(Bug, &str)>) -> Result<Vec<(&'static str, u64)>, String> {
    let mut random = Random(seed);
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::new(directory.path(), bug.map(|b| b.1));
    server.start(&Kill::Never).await?;
    let mut oracle = Oracle::default();
    clients::set_up(&server).await?;
    let mut hit: Vec<_> = CRASH_POINTS.iter().map(|p| (*p, 0)).collect();
    server.kill();
    for round in 0..rounds {
        let kill = kill(round, &mut random, bug.map(|b| b.0));
        let context = |e: String| format!("seed {seed}, round {round}, {kill:?}: {e}");
        if !server.start(&kill).await.map_err(context)? {
            // It ended while it started, as it was told to: the next start must do.
            count(&mut hit, &kill);
            server.start(&Kill::Never).await.map_err(context)?;
        }
        let clients = Clients::start(&server, oracle.acknowledged.clone(), random.next());
        let checked = oracle.check(&server).await;
        let ended = server.wait_for_end(&kill).await;
        if ended {
            count(&mut hit, &kill);
        }
        server.kill();
        let seen = clients.stop().await;
        oracle.learn(seen).map_err(context)?;
        match checked {
            // The server was told to end, so a check may have been cut short.
            Err(e) if !e.starts_with("connection") => return Err(context(e)),
            _ => (),
        }
        if bug.is_none() {
            println!("round {round:>4}  {kill:?}{}", if ended { "" } else { " (not reached)" });
        }
    }
    server.start(&Kill::Never).await?;
    oracle.check(&server).await.map_err(|e| format!("seed {seed}, at the end: {e}"))?;
    oracle.check_end(&server).await.map_err(|e| format!("seed {seed}, at the end: {e}"))?;
    Ok(hit)
}

fn count(hit: &mut [(&'static str, u64)], kill: &Kill) {
    if let Kill::At { point, .. } = kill
        && let Some((_, times)) = hit.iter_mut().find(|(p, _)| p == point)
    {
        *times += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_and_nothing_comes_twice() {
    let seed = variable("SEED").unwrap_or(1);
    let number = variable("ROUNDS").unwrap_or(SHORT_ROUNDS);
    println!("SEED={seed} ROUNDS={number}");
    let hit = rounds(seed, number, None).await.unwrap_or_else(|e| panic!("{e}"));
    for (point, times) in hit {
        println!("{point:<24} {times:>4} times");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_bugs_are_found() {
    let seed = variable("SEED").unwrap_or(1);
    for (bug, name) in Bug::ALL {
        let mut found = None;
        // Another schedule each time, until it is found.
        for attempt in 0..3 {
            found = rounds(seed + attempt, BUG_ROUNDS, Some((bug, name))).await.err();
            if found.is_some() {
                break;
            }
        }
        let found = found.unwrap_or_else(|| panic!("seed {seed}: bug {bug:?} was not found"));
        println!("{name}: {found}");
    }
}

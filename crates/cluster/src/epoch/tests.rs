//! The clock under random interleavings, against a model that knows what every reader must see; and its rules one by one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use millstream_types::{Epoch, Error, HoldId, JobId, SqlState, limits};

use super::core::{Action, EpochCore, ReadMode, ReadRequest};
use super::job::{JobRegistration, Phase};

const T1: JobId = JobId(1);
const T2: JobId = JobId(2);
/// View on T1.
const V: JobId = JobId(3);
/// View on V and T2.
const W: JobId = JobId(4);
/// View on an external source and T1.
const X: JobId = JobId(5);

fn registration(job: JobId, upstream: &[JobId], external: bool) -> JobRegistration {
    JobRegistration {
        job,
        name: format!("{job}"),
        upstream: upstream.to_vec(),
        external,
        table: upstream.is_empty() && !external,
        restored: None,
    }
}

fn closure(job: JobId) -> Vec<JobId> {
    match job {
        V => vec![T1],
        W => vec![T1, T2],
        X => vec![T1],
        table => vec![table],
    }
}

fn upstream(job: JobId) -> Vec<JobId> {
    match job {
        V | X => vec![T1],
        W => vec![V, T2],
        _ => vec![],
    }
}

fn started() -> (EpochCore, Vec<Action>) {
    let mut core = EpochCore::new(1, false, Duration::from_secs(60));
    let mut out = vec![];
    for (job, external) in [(T1, false), (T2, false), (V, false), (W, false), (X, true)] {
        core.register(registration(job, &upstream(job), external)).unwrap();
        core.started(job, &mut out);
        core.backfilled(job, &mut out);
    }
    (core, out)
}

/// Completes every tick in `out`, in order, until nothing is left to do; other actions are kept.
fn drain(core: &mut EpochCore, out: &mut Vec<Action>) -> Vec<Action> {
    let mut kept = vec![];
    while !out.is_empty() {
        for action in std::mem::take(out) {
            match action {
                Action::Tick { job, barrier } => core.completed(job, barrier.epoch, out),
                other => kept.push(other),
            }
        }
    }
    kept
}

fn ready(core: &mut EpochCore) {
    let mut out = vec![];
    core.interval(&mut out);
    drain(core, &mut out);
}

fn ticked(out: &[Action]) -> BTreeSet<JobId> {
    out.iter().filter_map(|a| if let Action::Tick { job, .. } = a { Some(*job) } else { None }).collect()
}

/// Reads and returns what happened.
fn read(core: &mut EpochCore, jobs: &[JobId], mode: ReadMode) -> (HoldId, Vec<Action>) {
    let mut out = vec![];
    let hold = core.read(ReadRequest { jobs: jobs.to_vec(), mode }, &mut out);
    (hold, out)
}

#[test]
fn a_read_ticks_only_what_it_needs_and_only_if_something_changed() {
    let (mut core, mut out) = started();
    drain(&mut core, &mut out);
    ready(&mut core);
    let (_, out) = read(&mut core, &[W], ReadMode::Strict);
    assert_eq!(out, [Action::Ready { hold: HoldId(1), epoch: core.closed() }], "nothing new: no tick");
    core.appended(T1);
    let (_, out) = read(&mut core, &[T2], ReadMode::Strict);
    assert!(ticked(&out).is_empty(), "T2 has nothing new");
    let (hold, mut out) = read(&mut core, &[V], ReadMode::Strict);
    assert_eq!(ticked(&out), BTreeSet::from([T1, V]));
    let epoch = core.closed();
    assert_eq!(drain(&mut core, &mut out), [Action::Ready { hold, epoch }]);
    let (_, out) = read(&mut core, &[W], ReadMode::Strict);
    assert_eq!(ticked(&out), BTreeSet::from([T1, T2, V, W]), "W stayed behind and is caught up with its whole closure");
}

#[test]
fn readers_that_come_together_share_a_tick() {
    let (mut core, mut out) = started();
    drain(&mut core, &mut out);
    ready(&mut core);
    core.appended(T1);
    let (_, mut out) = read(&mut core, &[V], ReadMode::Strict);
    let (_, second) = read(&mut core, &[V], ReadMode::Strict);
    assert!(second.is_empty(), "it waits for the tick that is under way");
    assert_eq!(drain(&mut core, &mut out).len(), 2);
}

#[test]
fn idle_jobs_cost_nothing() {
    let mut core = EpochCore::new(1, false, Duration::from_secs(60));
    let mut out = vec![];
    core.register(registration(T1, &[], false)).unwrap();
    core.started(T1, &mut out);
    for job in 100..200 {
        core.register(registration(JobId(job), &[T1], false)).unwrap();
        core.started(JobId(job), &mut out);
        core.backfilled(JobId(job), &mut out);
    }
    drain(&mut core, &mut out);
    ready(&mut core);
    for _ in 0..1_000 {
        core.interval(&mut out);
    }
    assert_eq!(out, []);
}

#[test]
fn ticks_under_way_are_bounded_and_the_excess_merges() {
    let (mut core, mut out) = started();
    drain(&mut core, &mut out);
    ready(&mut core);
    let mut sent = 0;
    for _ in 0..20 {
        core.interval(&mut out);
        sent = sent.max(core.in_flight(X));
    }
    assert_eq!(sent, limits::MAX_IN_FLIGHT_TICKS);
    let (waiting, reader) = read(&mut core, &[X], ReadMode::Strict);
    assert!(reader.is_empty());
    // T1 has room for others once X's share of it is done; a reader of T2 never waits for X.
    let (_, other) = read(&mut core, &[T2], ReadMode::Strict);
    assert!(matches!(other[..], [Action::Ready { .. }]));
    let done = drain(&mut core, &mut out);
    assert!(done.iter().any(|a| matches!(a, Action::Ready { hold, .. } if *hold == waiting)), "{done:?}");
}

#[test]
fn readers_of_a_failed_job_and_of_what_is_behind_it_are_refused_at_once() {
    let (mut core, mut out) = started();
    drain(&mut core, &mut out);
    ready(&mut core);
    core.appended(T1);
    let (first, _) = read(&mut core, &[V], ReadMode::Strict);
    let (second, _) = read(&mut core, &[W], ReadMode::Strict);
    out.clear();
    core.ended(V, Phase::Failed(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero")), &mut out);
    let refused: BTreeMap<HoldId, Error> =
        out.iter().filter_map(|a| if let Action::Refuse { hold, error } = a { Some((*hold, error.clone())) } else { None }).collect();
    assert_eq!(refused[&first].message(), "job \"job-3\" is not running: division by zero");
    assert!(refused[&second].message().contains("job \"job-3\" is not running"), "{}", refused[&second]);
    assert!(refused.values().all(|e| e.state() == SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE));
    // The others go on, and the jobs behind the failed one do not keep old versions alive.
    core.completed(T1, core.closed(), &mut out);
    for _ in 0..3 {
        core.appended(T1);
        let (_, mut out) = read(&mut core, &[T1], ReadMode::Strict);
        assert_eq!(ticked(&out), BTreeSet::from([T1]));
        assert_eq!(drain(&mut core, &mut out).len(), 1);
    }
}

#[test]
fn latest_does_not_wait_and_does_not_mix_epochs() {
    let (mut core, mut out) = started();
    drain(&mut core, &mut out);
    ready(&mut core);
    core.appended(T1);
    let (_, _ticks) = read(&mut core, &[T1], ReadMode::Strict);
    let under_way = core.closed();
    let (_, out) = read(&mut core, &[T1, V, T2], ReadMode::Latest);
    assert!(matches!(out[..], [Action::Ready { epoch, .. }] if epoch < under_way), "{out:?}");
}

#[test]
fn a_transaction_reads_other_relations_at_its_snapshot() {
    let (mut core, mut out) = started();
    drain(&mut core, &mut out);
    ready(&mut core);
    core.appended(T1);
    core.appended(T2);
    let (_, mut out) = read(&mut core, &[T1], ReadMode::Snapshot);
    assert!(ticked(&out).is_superset(&BTreeSet::from([T1, T2, V, W])), "{out:?}");
    let snapshot = core.closed();
    drain(&mut core, &mut out);
    core.appended(T2);
    let (_, out) = read(&mut core, &[W], ReadMode::At(snapshot));
    assert!(matches!(out[..], [Action::Ready { epoch, .. }] if epoch == snapshot));
    // Without the cut it is refused: T2 was left out of this tick and changes in it.
    core.appended(T1);
    let (_, mut out) = read(&mut core, &[T1], ReadMode::Strict);
    let other = core.closed();
    drain(&mut core, &mut out);
    let (_, out) = read(&mut core, &[T2], ReadMode::At(other));
    assert!(matches!(&out[..], [Action::Refuse { error, .. }] if error.state() == SqlState::SERIALIZATION_FAILURE), "{out:?}");
}

#[test]
fn paused_and_dropped_jobs_refuse_and_resumed_ones_catch_up() {
    let (mut core, mut out) = started();
    drain(&mut core, &mut out);
    ready(&mut core);
    core.set_paused(V, true, &mut out);
    core.appended(T1);
    let (_, refused) = read(&mut core, &[W], ReadMode::Strict);
    assert!(matches!(&refused[..], [Action::Refuse { error, .. }] if error.message().contains("paused")), "{refused:?}");
    core.interval(&mut out);
    assert!(!ticked(&out).contains(&V));
    drain(&mut core, &mut out);
    core.set_paused(V, false, &mut out);
    assert!(ticked(&out).contains(&V));
    drain(&mut core, &mut out);
    core.remove(W, &mut out);
    let (_, refused) = read(&mut core, &[W], ReadMode::Strict);
    assert!(matches!(&refused[..], [Action::Refuse { .. }]));
}

#[test]
fn a_view_is_readable_when_its_backfill_was_cut_and_not_before() {
    let mut core = EpochCore::new(1, false, Duration::from_secs(60));
    let mut out = vec![];
    core.register(registration(T1, &[], false)).unwrap();
    core.started(T1, &mut out);
    core.register(registration(V, &[T1], false)).unwrap();
    core.started(V, &mut out);
    let waiting = core.wait_filled(V, &mut out);
    assert!(drain(&mut core, &mut out).is_empty(), "one tick is done, the backfill is not");
    let (_, refused) = read(&mut core, &[V], ReadMode::Strict);
    assert!(matches!(&refused[..], [Action::Refuse { error, .. }] if error.message().contains("still being filled")));
    core.backfilled(V, &mut out);
    assert!(matches!(drain(&mut core, &mut out)[..], [Action::Ready { hold, .. }] if hold == waiting));
    let (_, out) = read(&mut core, &[V], ReadMode::Strict);
    assert!(matches!(out[..], [Action::Ready { .. }]), "{out:?}");
}

#[test]
fn an_old_hold_stops_holding() {
    let (mut core, mut out) = started();
    drain(&mut core, &mut out);
    ready(&mut core);
    let (_, _) = read(&mut core, &[T1], ReadMode::Strict);
    let held = core.oldest_hold();
    assert!(held < core.open());
    core.set_now(Duration::from_secs(61));
    core.interval(&mut out);
    assert_eq!(core.oldest_hold(), core.open());
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

struct Reader {
    jobs: Vec<JobId>,
    mode: ReadMode,
    /// Acknowledged records of each table when it came.
    acknowledged: BTreeMap<JobId, usize>,
    /// The newest epoch served to anybody when it came.
    served: Epoch,
}

/// An epoch, and how many records of each table are in.
type Cut = (Epoch, BTreeMap<JobId, usize>);

/// What the tasks would do, and what the readers must see.
struct Model {
    core: EpochCore,
    /// Epochs of the records of each table.
    records: BTreeMap<JobId, Vec<Epoch>>,
    /// Cuts that each job has published.
    cuts: BTreeMap<JobId, Vec<Cut>>,
    since: BTreeMap<JobId, Epoch>,
    ticks: BTreeMap<JobId, Vec<(Epoch, Epoch)>>,
    readers: BTreeMap<HoldId, Reader>,
    held: BTreeMap<HoldId, Epoch>,
    served: Epoch,
    failed: BTreeSet<JobId>,
}

impl Model {
    fn version(&self, job: JobId, epoch: Epoch) -> BTreeMap<JobId, usize> {
        let cut = self.cuts[&job].iter().rev().find(|(e, _)| *e <= epoch);
        cut.map(|(_, content)| content.clone()).unwrap_or_default()
    }

    fn truth(&self, table: JobId, epoch: Epoch) -> usize {
        self.records[&table].iter().filter(|e| **e <= epoch).count()
    }

    fn perform(&mut self, out: Vec<Action>) {
        for action in out {
            match action {
                Action::Tick { job, barrier } => {
                    assert!(!self.failed.contains(&job), "a failed job was ticked");
                    for (hold, epoch) in &self.held {
                        assert!(barrier.since <= *epoch, "{hold} is at {epoch}, since is {}", barrier.since);
                    }
                    self.ticks.get_mut(&job).unwrap().push((barrier.epoch, barrier.since));
                    assert!(self.ticks[&job].len() <= limits::MAX_IN_FLIGHT_TICKS);
                }
                Action::Ready { hold, epoch } => self.serve(hold, epoch),
                Action::Checkpoint { .. } => (),
                Action::Refuse { hold, error } => {
                    let reader = self.readers.remove(&hold).expect("a reader is answered once");
                    assert!(!self.failed.is_empty() || matches!(reader.mode, ReadMode::At(_)), "refused for nothing: {error}");
                }
            }
        }
    }

    fn serve(&mut self, hold: HoldId, epoch: Epoch) {
        let reader = self.readers.remove(&hold).expect("a reader is answered once");
        if matches!(reader.mode, ReadMode::Strict | ReadMode::Snapshot) {
            assert!(epoch >= reader.served, "epoch {epoch} after {} was served", reader.served);
        }
        for job in &reader.jobs {
            assert!(self.since[job] <= epoch, "the version was released");
            let seen = self.version(*job, epoch);
            for table in closure(*job) {
                let seen = seen.get(&table).copied().unwrap_or(0);
                assert_eq!(seen, self.truth(table, epoch), "{job} at {epoch} does not show {table} as of then ({:?})", reader.mode);
                if reader.mode == ReadMode::Strict {
                    assert!(seen >= reader.acknowledged[&table], "an acknowledged write is missing");
                }
            }
        }
        self.served = self.served.max(epoch);
        self.held.insert(hold, epoch);
    }

    /// The job does its oldest tick if its upstreams have.
    fn complete(&mut self, job: JobId) -> bool {
        let Some((epoch, since)) = self.ticks[&job].first().copied() else { return false };
        if self.failed.contains(&job) {
            return false;
        }
        let ready = |u: &JobId| self.cuts[u].last().is_some_and(|(e, _)| *e >= epoch);
        if !upstream(job).iter().all(ready) {
            return false;
        }
        assert!(upstream(job).iter().all(|u| self.since[u] <= epoch), "the upstream's version was released");
        let mut content = BTreeMap::new();
        if upstream(job).is_empty() {
            content.insert(job, self.truth(job, epoch));
        }
        for u in upstream(job) {
            content.extend(self.version(u, epoch));
        }
        self.ticks.get_mut(&job).unwrap().remove(0);
        self.cuts.get_mut(&job).unwrap().push((epoch, content));
        let old = self.since[&job];
        self.since.insert(job, old.max(since));
        let mut out = vec![];
        self.core.completed(job, epoch, &mut out);
        self.perform(out);
        true
    }

    fn read(&mut self, random: &mut Random) {
        let all = [T1, T2, V, W, X];
        let jobs: BTreeSet<JobId> = (0..=random.below(2)).map(|_| all[random.below(5)]).collect();
        let mode = match random.below(6) {
            0 => ReadMode::Latest,
            1 => ReadMode::Snapshot,
            2 => self.held.values().next().map_or(ReadMode::Strict, |e| ReadMode::At(*e)),
            _ => ReadMode::Strict,
        };
        let acknowledged = self.records.iter().map(|(t, r)| (*t, r.len())).collect();
        let jobs: Vec<JobId> = jobs.into_iter().collect();
        let reader = Reader { jobs: jobs.clone(), mode, acknowledged, served: self.served };
        let mut out = vec![];
        let hold = self.core.read(ReadRequest { jobs, mode }, &mut out);
        self.readers.insert(hold, reader);
        self.perform(out);
    }

    fn step(&mut self, random: &mut Random) {
        let mut out = vec![];
        match random.below(12) {
            0..=2 => {
                let table = [T1, T2][random.below(2)];
                if self.core.accepts_changes(table).is_ok() {
                    let epoch = self.core.open();
                    self.records.get_mut(&table).unwrap().push(epoch);
                    self.core.appended(table);
                }
            }
            3..=5 => self.read(random),
            6 => self.core.interval(&mut out),
            7 => {
                if let Some(hold) = self.held.keys().nth(random.below(self.held.len().max(1))).copied() {
                    self.held.remove(&hold);
                    self.core.release(hold);
                }
            }
            8 => {
                if let Some(hold) = self.readers.keys().next().copied() {
                    self.readers.remove(&hold);
                    self.core.release(hold);
                }
            }
            _ => {
                self.complete([T1, T2, V, W, X][random.below(5)]);
            }
        }
        self.perform(out);
    }
}

#[test]
fn random_interleavings_keep_every_promise() {
    for seed in 0..300 {
        println!("SEED={seed}");
        let mut random = Random(seed);
        let (core, out) = started();
        let all = [T1, T2, V, W, X];
        let mut model = Model {
            core,
            records: BTreeMap::from([(T1, vec![]), (T2, vec![])]),
            cuts: all.iter().map(|j| (*j, vec![])).collect(),
            since: all.iter().map(|j| (*j, 0)).collect(),
            ticks: all.iter().map(|j| (*j, vec![])).collect(),
            readers: BTreeMap::new(),
            held: BTreeMap::new(),
            served: 0,
            failed: BTreeSet::new(),
        };
        model.perform(out);
        while all.iter().any(|j| model.complete(*j)) {}
        let fails_at = if seed % 3 == 0 { random.below(400) } else { usize::MAX };
        for step in 0..400 {
            model.step(&mut random);
            if step == fails_at {
                let job = all[random.below(5)];
                model.failed.insert(job);
                model.ticks.get_mut(&job).unwrap().clear();
                let mut out = vec![];
                model.core.ended(job, Phase::Failed(Error::internal("boom")), &mut out);
                model.perform(out);
            }
        }
        for _ in 0..1_000 {
            while all.iter().any(|j| model.complete(*j)) {}
        }
        assert!(model.readers.is_empty(), "somebody waits for ever");
        assert_eq!(model.core.readers().0, 0);
    }
}

//! The cluster end to end, over StreamGraphs built by hand: tables, views on them, views on views.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod kit;

use std::time::Duration;

use kit::{Kit, OTHER, TABLE, VIEW, VIEW_ON_VIEW, rows, sorted};
use millstream_types::{Clock, Epoch, JobId, ObjectId, RowKind, SqlState, SystemClock};

use crate::{Isolation, JobStatus, TransactionChanges};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn insert_then_select_over_a_view_on_a_view() {
    let kit = Kit::start().await;
    kit.table(TABLE, 2).await;
    kit.insert(TABLE, &[(1, 10), (2, 20)]).await.unwrap();
    kit.view(VIEW, TABLE, 2, 0).await;
    kit.view(VIEW_ON_VIEW, VIEW, 2, 0).await;
    assert_eq!(kit.select(VIEW_ON_VIEW).await.unwrap(), [(1, 10), (2, 20)]);
    let mut last = 0;
    for i in 3..50 {
        kit.insert(TABLE, &[(i, i * 10)]).await.unwrap();
        let lease = kit.cluster.epochs().read(&[kit.job(VIEW_ON_VIEW), kit.job(TABLE)], Isolation::default()).await.unwrap();
        assert!(lease.epoch() >= last);
        last = lease.epoch();
        assert_eq!(kit.scan(VIEW_ON_VIEW, last).len(), i as usize);
        assert_eq!(kit.scan(TABLE, last).len(), i as usize);
    }
    assert_eq!(kit.cluster.epochs().readers(), (0, 0), "no lease is left");
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_then_a_read_of_a_view_on_a_view_takes_about_a_millisecond() {
    let kit = Kit::start().await;
    kit.table(TABLE, 1).await;
    kit.view(VIEW, TABLE, 1, 0).await;
    kit.view(VIEW_ON_VIEW, VIEW, 1, 0).await;
    let mut times: Vec<Duration> = vec![];
    for i in 0..200 {
        let before = SystemClock.monotonic();
        kit.insert(TABLE, &[(i, 0)]).await.unwrap();
        let lease = kit.read(VIEW_ON_VIEW).await.unwrap();
        times.push(SystemClock.monotonic() - before);
        drop(lease);
    }
    times.sort();
    println!("median {:?}, worst {:?}", times[100], times[199]);
    assert!(times[100] < Duration::from_millis(50), "the median waits for a timer: {:?}", times[100]);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn constraints_are_checked_against_published_logged_and_own_rows() {
    let kit = Kit::start().await;
    kit.table(TABLE, 2).await;
    kit.insert(TABLE, &[(1, 10)]).await.unwrap();
    let logged = kit.insert(TABLE, &[(1, 11)]).await.unwrap_err();
    assert_eq!((logged.state(), logged.detail()), (SqlState::UNIQUE_VIOLATION, Some("Key (k)=(1) already exists.")));
    assert_eq!(kit.select(TABLE).await.unwrap(), [(1, 10)]);
    let published = kit.insert(TABLE, &[(1, 12)]).await.unwrap_err();
    assert_eq!(published.message(), "duplicate key value violates unique constraint \"o1_pkey\"");
    assert_eq!(kit.insert(TABLE, &[(5, 1), (5, 2)]).await.unwrap_err().state(), SqlState::UNIQUE_VIOLATION);
    let null = kit.write(TABLE, rows(&[(Some(9), None)], &[RowKind::Insert]), None).await.unwrap_err();
    assert_eq!((null.state(), null.detail()), (SqlState::NOT_NULL_VIOLATION, Some("Failing row contains (9, null).")));
    // Delete and insert again, before and after it is published.
    kit.change(TABLE, &[((1, 10), RowKind::Delete)], None).await.unwrap();
    kit.insert(TABLE, &[(1, 13)]).await.unwrap();
    assert_eq!(kit.select(TABLE).await.unwrap(), [(1, 13)]);
    assert_eq!(kit.change(TABLE, &[((7, 7), RowKind::Delete)], None).await.unwrap_err().state(), SqlState::SERIALIZATION_FAILURE);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_never_lose_an_update() {
    let kit = Kit::start().await;
    kit.table(TABLE, 1).await;
    kit.insert(TABLE, &[(1, 0)]).await.unwrap();
    let increment = || async {
        for _ in 0..50 {
            let locks = kit.cluster.tables().lock(&[kit.relation(TABLE)]).await.unwrap();
            let lease = kit.cluster.tables().read_latest(&locks).await.unwrap();
            let (_, value) = kit.scan(TABLE, lease.epoch())[0];
            let changes = vec![((1, value), RowKind::UpdateBefore), ((1, value + 1), RowKind::UpdateAfter)];
            let transaction = TransactionChanges { snapshot: None, changes: vec![(kit.relation(TABLE), kit.batch(&changes))] };
            kit.cluster.tables().commit(&locks, &transaction).unwrap();
        }
    };
    tokio::join!(increment(), increment());
    assert_eq!(kit.select(TABLE).await.unwrap(), [(1, 100)]);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_transactions_with_one_snapshot_the_first_committer_wins() {
    let kit = Kit::start().await;
    kit.table(TABLE, 1).await;
    kit.insert(TABLE, &[(1, 0), (2, 0)]).await.unwrap();
    let (a, b) = (kit.read(TABLE).await.unwrap(), kit.read(TABLE).await.unwrap());
    let set = |key, value| vec![((key, 0), RowKind::UpdateBefore), ((key, value), RowKind::UpdateAfter)];
    kit.change(TABLE, &set(1, 1), Some(a.epoch())).await.unwrap();
    let second = kit.change(TABLE, &set(1, 2), Some(b.epoch())).await.unwrap_err();
    assert_eq!(second.state(), SqlState::SERIALIZATION_FAILURE);
    kit.change(TABLE, &set(2, 2), Some(b.epoch())).await.unwrap();
    assert_eq!(kit.select(TABLE).await.unwrap(), [(1, 1), (2, 2)]);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_view_fails_alone() {
    let kit = Kit::start().await;
    kit.table(TABLE, 2).await;
    kit.insert(TABLE, &[(1, 10)]).await.unwrap();
    kit.view(VIEW, TABLE, 2, 100).await;
    kit.view(VIEW_ON_VIEW, VIEW, 1, 0).await;
    kit.view(OTHER, TABLE, 2, 0).await;
    // The view divides 100 by the value.
    assert_eq!(kit.select(VIEW).await.unwrap(), [(1, 10)]);
    kit.insert(TABLE, &[(2, 0)]).await.unwrap();
    let error = kit.select(VIEW_ON_VIEW).await.unwrap_err();
    assert_eq!(error.state(), SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE);
    assert!(error.message().contains("job \"o2\" is not running: division by zero"), "{error}");
    assert_eq!(kit.cluster.jobs().wait_finished(kit.job(VIEW)).await.unwrap(), JobStatus::Failed);
    let overview = kit.cluster.jobs().overview(kit.job(VIEW)).unwrap();
    let cause = overview.cause.unwrap();
    assert_eq!(cause.state(), SqlState::DIVISION_BY_ZERO);
    assert!(cause.detail().unwrap().contains("In task \"Subscription(o1) -> Calc"), "{cause}");
    assert_eq!(kit.select(OTHER).await.unwrap(), [(1, 10), (2, 0)]);
    assert_eq!(kit.select(TABLE).await.unwrap(), [(1, 10), (2, 0)]);
    for view in [VIEW_ON_VIEW, VIEW] {
        kit.cluster.jobs().drop(kit.job(view)).await.unwrap();
    }
    assert_eq!(kit.cluster.jobs().list().len(), 2);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_in_a_task_is_a_failed_job() {
    let kit = Kit::start().await;
    kit.source(VIEW, "panic", false).await.unwrap();
    let error = kit.cluster.jobs().wait_backfill(kit.job(VIEW)).await.unwrap_err();
    assert!(error.message().contains("a task panicked"), "{error}");
    assert_eq!(kit.cluster.jobs().wait_finished(kit.job(VIEW)).await.unwrap(), JobStatus::Failed);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bounded_source_finishes_and_stays_readable() {
    let kit = Kit::start().await;
    kit.source(VIEW, "bounded", false).await.unwrap();
    assert_eq!(kit.cluster.jobs().wait_finished(kit.job(VIEW)).await.unwrap(), JobStatus::Finished);
    assert_eq!(kit.select(VIEW).await.unwrap(), [(1, 1), (2, 2)]);
    kit.view(VIEW_ON_VIEW, VIEW, 1, 0).await;
    assert_eq!(kit.select(VIEW_ON_VIEW).await.unwrap(), [(1, 1), (2, 2)]);
    assert_eq!(kit.cluster.jobs().wait_finished(kit.job(VIEW_ON_VIEW)).await.unwrap(), JobStatus::Finished);
    assert_eq!(kit.select(VIEW_ON_VIEW).await.unwrap(), [(1, 1), (2, 2)]);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_pause_resume_and_drop() {
    let kit = Kit::start().await;
    kit.table(TABLE, 1).await;
    kit.view(VIEW, TABLE, 1, 0).await;
    kit.view(OTHER, TABLE, 1, 0).await;
    let jobs = kit.cluster.jobs();
    jobs.pause(kit.job(VIEW)).await.unwrap();
    kit.insert(TABLE, &[(1, 1)]).await.unwrap();
    assert!(kit.select(VIEW).await.unwrap_err().message().contains("paused"));
    assert!(jobs.overview(kit.job(VIEW)).unwrap().paused);
    jobs.resume(kit.job(VIEW)).await.unwrap();
    assert_eq!(kit.select(VIEW).await.unwrap(), [(1, 1)]);
    jobs.cancel(kit.job(VIEW)).await.unwrap();
    assert!(kit.select(VIEW).await.unwrap_err().message().contains("it was cancelled"));
    assert!(jobs.pause(kit.job(VIEW)).await.is_err());
    jobs.drop(kit.job(VIEW)).await.unwrap();
    jobs.drop(kit.job(VIEW)).await.unwrap();
    assert_eq!(kit.cluster.serving().parallelism(kit.relation(VIEW)), None);
    assert_eq!(kit.select(OTHER).await.unwrap(), [(1, 1)]);
    assert_eq!(jobs.cancel(JobId(99)).await.unwrap_err().state(), SqlState::UNDEFINED_OBJECT);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_idle_views_share_slots_and_get_no_ticks() {
    let kit = Kit::start().await;
    kit.table(TABLE, 1).await;
    for view in 100..200 {
        kit.view(view, TABLE, 1, 0).await;
    }
    let slots = kit.cluster.jobs().slots();
    assert_eq!(slots.iter().map(|s| s.tasks).collect::<Vec<_>>(), [201, 0, 0, 0]);
    kit.select(150).await.unwrap();
    let (ticks, epoch) = (kit.cluster.epochs().ticks_sent(), kit.cluster.epochs().current());
    (0..100).for_each(|_| kit.cluster.epochs().interval());
    assert_eq!((kit.cluster.epochs().ticks_sent(), kit.cluster.epochs().current()), (ticks, epoch));
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_slots_and_duplicate_jobs_are_refused_and_leave_nothing() {
    let kit = Kit::start().await;
    kit.table(TABLE, 2).await;
    let error = kit.try_view(VIEW, TABLE, 3, 0, "heavy").await.unwrap_err();
    assert_eq!(error.state().as_str(), "53000");
    assert_eq!(kit.cluster.jobs().list().len(), 1);
    kit.try_view(VIEW, TABLE, 2, 0, "heavy").await.unwrap();
    assert_eq!(kit.try_view(VIEW, TABLE, 2, 0, "heavy").await.unwrap_err().state(), SqlState::DUPLICATE_OBJECT);
    let groups: Vec<_> = kit.cluster.jobs().slots().into_iter().map(|s| s.group.unwrap()).collect();
    assert_eq!(groups, ["default", "default", "heavy", "heavy"]);
    let details = kit.cluster.jobs().details(kit.job(VIEW)).unwrap();
    assert_eq!(details.vertices.iter().map(|v| v.subtasks.len()).sum::<usize>(), 4);
    kit.cluster.jobs().drop(kit.job(VIEW)).await.unwrap();
    assert_eq!(kit.cluster.jobs().slots().iter().filter(|s| s.group.is_none()).count(), 2);
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_or_submitter_that_goes_away_leaves_nothing() {
    let kit = Kit::start().await;
    kit.table(TABLE, 1).await;
    kit.source(VIEW, "stuck", true).await.unwrap();
    kit.cluster.jobs().wait_backfill(kit.job(VIEW)).await.unwrap();
    {
        let read = kit.read(VIEW);
        tokio::pin!(read);
        assert!(futures::poll!(read.as_mut()).is_pending());
        assert_eq!(kit.cluster.epochs().readers().0, 1);
    }
    assert_eq!(kit.cluster.epochs().readers(), (0, 0));
    // A reader of the stuck job does not delay a reader of the table, and gets its answer when the job ends.
    let cluster = std::sync::Arc::clone(&kit.cluster);
    let job = kit.job(VIEW);
    let (stuck, other) = tokio::join!(async { cluster.epochs().read(&[job], Isolation::StrictSerializable).await }, async {
        kit.insert(TABLE, &[(1, 1)]).await.unwrap();
        let seen = kit.select(TABLE).await.unwrap();
        kit.cluster.jobs().cancel(job).await.unwrap();
        seen
    });
    assert!(stuck.is_err());
    assert_eq!(other, [(1, 1)]);
    {
        let submit = kit.source(OTHER, "stuck", true);
        tokio::pin!(submit);
        let _ = futures::poll!(submit.as_mut());
    }
    kit.cluster.jobs().drop(kit.job(OTHER)).await.unwrap();
    assert!(kit.cluster.jobs().list().iter().all(|j| j.job != kit.job(OTHER)));
    kit.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_ids_are_handed_out_once_and_transactions_are_one_record() {
    let kit = Kit::start().await;
    kit.table(TABLE, 1).await;
    kit.table(OTHER, 1).await;
    assert_eq!(kit.cluster.tables().next_row_ids(kit.relation(TABLE), 3).unwrap(), 1..4);
    assert_eq!(kit.cluster.tables().next_row_ids(kit.relation(TABLE), 1).unwrap(), 4..5);
    let locks = kit.cluster.tables().lock(&[kit.relation(OTHER), kit.relation(TABLE), kit.relation(OTHER)]).await.unwrap();
    assert_eq!(locks.tables().collect::<Vec<_>>(), [kit.relation(TABLE), kit.relation(OTHER)]);
    let insert = |key| kit.batch(&[((key, 1), RowKind::Insert)]);
    let both = TransactionChanges { snapshot: None, changes: vec![(ObjectId(TABLE), insert(1)), (ObjectId(OTHER), insert(2))] };
    let epoch: Epoch = kit.cluster.tables().commit(&locks, &both).unwrap().unwrap().epoch;
    drop(locks);
    let jobs = [kit.job(TABLE), kit.job(OTHER)];
    let lease = kit.cluster.epochs().read(&jobs, Isolation::StrictSerializable).await.unwrap();
    assert!(lease.epoch() >= epoch);
    assert_eq!((sorted(kit.scan(TABLE, epoch)), sorted(kit.scan(OTHER, epoch))), (vec![(1, 1)], vec![(2, 1)]));
    kit.shutdown().await;
}

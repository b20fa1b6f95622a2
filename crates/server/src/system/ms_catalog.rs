//! `ms_catalog`: jobs, vertices, subtasks, slots, relations, checkpoints, settings, epochs.

use millstream_cluster::checkpoint::{CheckpointOverview, CheckpointStatus};
use millstream_cluster::{JobKind, JobOverview};
use millstream_types::{Result, SqlType};

use super::Source;
use super::table::{Cell, Rows};

/// The rows of a relation; `None` if there is none of this name.
pub(super) fn rows(source: &Source, name: &str) -> Result<Option<Rows>> {
    Ok(Some(match name {
        "jobs" => jobs(source),
        "vertices" => vertices(source),
        "subtasks" => subtasks(source),
        "slots" => slots(source),
        "relations" => relations(source),
        "settings" => settings(source),
        "checkpoints" => checkpoints(source),
        "epochs" => epochs(source),
        _ => return Ok(None),
    }))
}

/// SHOW JOBS and `ms_catalog.jobs`.
pub(crate) fn job_cells(job: &JobOverview) -> Vec<Cell> {
    let kind = match job.kind {
        JobKind::Table => "table",
        JobKind::MaterializedView => "materialized view",
        JobKind::StreamingJob => "streaming job",
    };
    let status = if job.paused { "PAUSED".to_owned() } else { job.status.to_string() };
    let backfill = job.backfill.filter(|(done, all)| done < all).map(|(done, all)| format!("{done} of {all} rows"));
    vec![
        job.name.as_str().into(),
        kind.into(),
        status.into(),
        job.parallelism.into(),
        job.records_in.into(),
        job.records_out.into(),
        backfill.into(),
        job.cause.as_ref().map(ToString::to_string).into(),
        Cell::Time(job.start_time_micros),
    ]
}

pub(crate) fn job_columns() -> Rows {
    Rows::new(&[
        ("name", SqlType::Text),
        ("kind", SqlType::Text),
        ("status", SqlType::Text),
        ("parallelism", SqlType::BigInt),
        ("records_in", SqlType::BigInt),
        ("records_out", SqlType::BigInt),
        ("backfill", SqlType::Text),
        ("cause", SqlType::Text),
        ("started", SqlType::TimestampTz),
    ])
}

/// SHOW CHECKPOINTS and `ms_catalog.checkpoints`: the last ones of each job, oldest first. Times in microseconds, sizes in bytes.
pub(crate) fn checkpoint_columns() -> Rows {
    Rows::new(&[
        ("job", SqlType::Text),
        ("epoch", SqlType::BigInt),
        ("status", SqlType::Text),
        ("cause", SqlType::Text),
        ("ended", SqlType::TimestampTz),
        ("duration_us", SqlType::BigInt),
        ("sync_us", SqlType::BigInt),
        ("written_bytes", SqlType::BigInt),
        ("state_bytes", SqlType::BigInt),
        ("keys", SqlType::BigInt),
    ])
}

pub(crate) fn checkpoint_cells(job: &str, checkpoint: &CheckpointOverview) -> Vec<Cell> {
    let (status, cause) = match &checkpoint.status {
        CheckpointStatus::Completed => ("COMPLETED", None),
        CheckpointStatus::Failed(cause) => ("FAILED", Some(cause.to_string())),
    };
    let micros = |d: std::time::Duration| u64::try_from(d.as_micros()).unwrap_or(u64::MAX);
    vec![
        job.into(),
        checkpoint.epoch.into(),
        status.into(),
        cause.into(),
        Cell::Time(checkpoint.end_time_micros),
        micros(checkpoint.duration).into(),
        micros(checkpoint.sync).into(),
        checkpoint.written_bytes.into(),
        checkpoint.state_bytes.into(),
        checkpoint.keys.into(),
    ]
}

fn checkpoints(source: &Source) -> Rows {
    let mut rows = checkpoint_columns();
    for job in own_jobs(source) {
        for checkpoint in source.db.cluster().checkpoints(job.job) {
            rows.push(checkpoint_cells(&job.name, &checkpoint));
        }
    }
    rows
}

/// Jobs of the database.
pub(crate) fn own_jobs(source: &Source) -> Vec<JobOverview> {
    let state = source.db.catalog().snapshot();
    let own = |j: &JobOverview| state.object(millstream_types::ObjectId(j.job.0)).is_some_and(|o| o.database == source.database);
    let mut jobs: Vec<_> = source.db.cluster().jobs().list().into_iter().filter(own).collect();
    jobs.sort_by_key(|j| j.job);
    jobs
}

fn jobs(source: &Source) -> Rows {
    let mut rows = job_columns();
    own_jobs(source).iter().for_each(|j| rows.push(job_cells(j)));
    rows
}

fn vertices(source: &Source) -> Rows {
    let mut rows =
        Rows::new(&[("job", SqlType::Text), ("vertex", SqlType::Text), ("name", SqlType::Text), ("parallelism", SqlType::BigInt)]);
    for job in own_jobs(source) {
        for v in source.db.cluster().jobs().details(job.job).into_iter().flat_map(|d| d.vertices) {
            rows.push(vec![job.name.as_str().into(), v.vertex.to_string().into(), v.name.into(), v.parallelism.into()]);
        }
    }
    rows
}

fn subtasks(source: &Source) -> Rows {
    let number = SqlType::BigInt;
    let mut rows = Rows::new(&[
        ("job", SqlType::Text),
        ("vertex", SqlType::Text),
        ("subtask", number.clone()),
        ("attempt", number.clone()),
        ("state", SqlType::Text),
        ("slot", SqlType::Text),
        ("records_in", number.clone()),
        ("records_out", number.clone()),
        ("busy_us", number.clone()),
        ("idle_us", number.clone()),
        ("backpressured_us", number.clone()),
        ("state_keys", number.clone()),
        ("state_bytes", number),
    ]);
    for job in own_jobs(source) {
        for v in source.db.cluster().jobs().details(job.job).into_iter().flat_map(|d| d.vertices) {
            for s in v.subtasks {
                let m = s.metrics;
                rows.push(vec![
                    job.name.as_str().into(),
                    v.vertex.to_string().into(),
                    s.subtask.into(),
                    s.attempt.attempt.into(),
                    s.state.to_string().into(),
                    s.slot.map(|slot| slot.to_string()).into(),
                    m.records_in.into(),
                    m.records_out.into(),
                    m.busy_us.into(),
                    m.idle_us.into(),
                    m.backpressured_us.into(),
                    m.state_keys.into(),
                    m.state_bytes.into(),
                ]);
            }
        }
    }
    rows
}

fn slots(source: &Source) -> Rows {
    let mut rows = Rows::new(&[("slot", SqlType::Text), ("slot_sharing_group", SqlType::Text), ("tasks", SqlType::BigInt)]);
    for s in source.db.cluster().jobs().slots() {
        rows.push(vec![s.slot.to_string().into(), s.group.into(), s.tasks.into()]);
    }
    rows
}

fn relations(source: &Source) -> Rows {
    let mut rows = Rows::new(&[
        ("schema", SqlType::Text),
        ("name", SqlType::Text),
        ("kind", SqlType::Text),
        ("rows", SqlType::BigInt),
        ("bytes", SqlType::BigInt),
    ]);
    let serving = source.db.cluster().serving();
    for o in source.db.catalog().snapshot().objects(&source.database) {
        let kept = serving.parallelism(o.id).is_some();
        let count = |n: usize| if kept { n.into() } else { Cell::Null };
        let kind = o.kind.object_type().to_string();
        rows.push(vec![
            o.schema.as_str().into(),
            o.name.as_str().into(),
            kind.into(),
            count(serving.rows(o.id)),
            count(serving.bytes(o.id)),
        ]);
    }
    rows
}

fn settings(source: &Source) -> Rows {
    let mut rows = Rows::new(&[("name", SqlType::Text), ("setting", SqlType::Text), ("description", SqlType::Text)]);
    for (name, value, meaning) in &source.settings {
        rows.push(vec![(*name).into(), value.as_str().into(), (*meaning).into()]);
    }
    rows
}

fn epochs(source: &Source) -> Rows {
    let mut rows = Rows::new(&[("current_epoch", SqlType::BigInt), ("open_epoch", SqlType::BigInt), ("ticks_sent", SqlType::BigInt)]);
    let epochs = source.db.cluster().epochs();
    rows.push(vec![epochs.current().into(), epochs.open_epoch().into(), epochs.ticks_sent().into()]);
    rows
}

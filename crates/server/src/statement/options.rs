//! The WITH clause of jobs.

use std::collections::BTreeMap;

use millstream_cluster::JobOptions;
use millstream_planner::PlannerSettings;
use millstream_sql::statement::RelationOption;
use millstream_types::{Error, Result, SqlState, limits};

use crate::session::Session;
use crate::session::settings::{boolean, duration};

const KNOWN: [&str; 6] = ["parallelism", "max_parallelism", "chaining", "slot_sharing_group", "linger", "batch_rows"];

/// How a job runs: the session's settings, then its WITH clause.
pub(super) struct JobSettings {
    pub(super) planner: PlannerSettings,
    pub(super) linger_ms: u64,
    pub(super) batch_rows: usize,
}

impl JobSettings {
    /// # Errors
    /// 42704 for an unknown option, 22023 for a wrong value, each with its position.
    pub(super) fn new(session: &Session, options: &[RelationOption]) -> Result<Self> {
        let mut settings = JobSettings {
            planner: session.planner_settings(),
            linger_ms: u64::try_from(session.settings.duration("linger").as_millis()).unwrap_or(limits::LINGER_MS),
            batch_rows: usize::try_from(session.settings.number("batch_rows")).unwrap_or(limits::BATCH_TARGET_ROWS),
        };
        options.iter().try_for_each(|o| settings.apply(o))?;
        if settings.planner.parallelism > settings.planner.max_parallelism {
            return Err(Error::new(SqlState::INVALID_PARAMETER_VALUE, "parallelism is larger than max_parallelism"));
        }
        Ok(settings)
    }

    fn apply(&mut self, option: &RelationOption) -> Result<()> {
        let wrong = |hint: &str| {
            let message = format!("invalid value for option \"{}\": \"{}\"", option.key, option.value);
            Error::new(SqlState::INVALID_PARAMETER_VALUE, message).with_hint(hint).with_position(option.position.0)
        };
        let number = |most: u32| match option.value.parse::<u32>() {
            Ok(n) if (1..=most).contains(&n) => Ok(n),
            _ => Err(wrong(&format!("a whole number from 1 to {most}"))),
        };
        match option.key.as_str() {
            "parallelism" => self.planner.parallelism = number(1024)?,
            "max_parallelism" => self.planner.max_parallelism = number(limits::MAX_MAX_PARALLELISM)?,
            "chaining" => self.planner.chaining = boolean(&option.value).ok_or_else(|| wrong("on or off"))?,
            "slot_sharing_group" => self.planner.slot_sharing_group.clone_from(&option.value),
            "linger" => {
                let time = duration(&option.value).ok_or_else(|| wrong("milliseconds, or a number with a unit: 10ms"))?;
                self.linger_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            }
            "batch_rows" => self.batch_rows = number(65_536)? as usize,
            other => {
                return Err(Error::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized option \"{other}\""))
                    .with_hint(format!("known options: {}", KNOWN.join(", ")))
                    .with_position(option.position.0));
            }
        }
        Ok(())
    }

    /// What the cluster needs of it.
    pub(super) fn job_options(&self, options: JobOptions) -> JobOptions {
        JobOptions { linger_ms: self.linger_ms, batch_rows: self.batch_rows, ..options }
    }
}

/// Options as the catalog keeps them.
pub(super) fn map(options: &[RelationOption]) -> BTreeMap<String, String> {
    options.iter().map(|o| (o.key.clone(), o.value.clone())).collect()
}

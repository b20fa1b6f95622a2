//! Sessions: one client's settings, transaction and prepared statements. What statements do is in [`crate::statement`].

mod deadline;
mod functions;
pub mod names;
pub mod parameters;
pub mod settings;
pub mod transaction;

use std::collections::BTreeMap;
use std::sync::Arc;

use millstream_cluster::Logged;
use millstream_planner::PlannerSettings;
use millstream_sql::Parsed;
use millstream_sql::statement::Statement;
use millstream_types::{Datum, Error, Result, Schema, SqlState, SqlType};

use crate::catalog::DEFAULT_DATABASE;
use crate::database::Database;
use crate::pg::service::{Notice, QueryService, QuerySession, Response, Severity, StartupParams, TransactionStatus};
use crate::statement;
use settings::Settings;
use transaction::{Block, Transaction};

/// One client's session.
pub struct Session {
    pub(crate) db: Arc<Database>,
    pub(crate) database: String,
    pub(crate) user: String,
    pub(crate) settings: Settings,
    pub(crate) transaction: Option<Transaction>,
    /// Settings to go back to at the end of the transaction (SET LOCAL), or when it fails.
    pub(crate) saved_settings: Option<Settings>,
    pub(crate) prepared: BTreeMap<String, Arc<Prepared>>,
    /// What the statement has logged and not acknowledged yet.
    pub(crate) logged: Option<Logged>,
    notices: Vec<Notice>,
}

/// A statement with the types of its parameters and result.
#[derive(Debug)]
pub struct Prepared {
    /// The statement.
    pub parsed: Parsed,
    /// Types of `$1`, `$2`, ...
    pub params: Vec<SqlType>,
    /// Columns of its result; `None` without rows.
    pub columns: Option<Schema>,
}

impl QueryService for Database {
    type Session = Session;

    async fn open(service: &Arc<Self>, params: StartupParams) -> Result<Session> {
        let database = params.database.unwrap_or_else(|| DEFAULT_DATABASE.to_owned());
        if !service.catalog().snapshot().has_database(&database) {
            return Err(Error::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{database}\" does not exist")));
        }
        let mut settings = Settings::new(service.default_parallelism());
        for (name, value) in &params.settings {
            // Drivers send settings of servers that they know; one that is not known here must not keep a client out.
            if let Err(e) = settings.set(name, value)
                && e.state() != SqlState::UNDEFINED_OBJECT
            {
                return Err(e);
            }
        }
        drop(settings.take_changed());
        Ok(Session {
            db: Arc::clone(service),
            database,
            user: params.user,
            settings,
            transaction: None,
            saved_settings: None,
            prepared: BTreeMap::new(),
            logged: None,
            notices: vec![],
        })
    }
}

impl Session {
    /// Tells the client something besides the result.
    pub(crate) fn notice(&mut self, severity: Severity, state: SqlState, message: String) {
        self.notices.push(Notice { severity, state, message, detail: None, hint: None });
    }

    /// The settings of a new job, before its WITH clause.
    pub(crate) fn planner_settings(&self) -> PlannerSettings {
        let number = |name: &str| u32::try_from(self.settings.number(name)).unwrap_or(1);
        PlannerSettings {
            parallelism: number("parallelism").min(number("max_parallelism")),
            max_parallelism: number("max_parallelism"),
            chaining: self.settings.bool("chaining"),
            merge_calcs: self.settings.bool("merge_calcs"),
            slot_sharing_group: self.settings.get("slot_sharing_group").unwrap_or_default(),
        }
    }

    async fn execute_one(&mut self, parsed: &Parsed) -> Result<Response> {
        if let Some(Transaction { failed: true, .. }) = self.transaction
            && !matches!(parsed.statement, Statement::Rollback(_) | Statement::Commit(_))
        {
            return Err(Error::new(
                SqlState::IN_FAILED_SQL_TRANSACTION,
                "current transaction is aborted, commands ignored until end of transaction block",
            ));
        }
        let timeout = self.settings.duration("statement_timeout");
        let result = match functions::substitute(self, parsed) {
            Ok(substituted) => deadline::run(timeout, statement::execute(self, substituted.as_ref().unwrap_or(parsed))).await,
            Err(e) => Err(e),
        };
        let result = self.acknowledge().await.and(result);
        if result.is_err() {
            self.fail_transaction();
        }
        result
    }

    /// What was logged is durable before the client hears of it, unless it does not want to wait.
    async fn acknowledge(&mut self) -> Result<()> {
        match self.logged.take().filter(|_| self.settings.bool("synchronous_commit")) {
            Some(logged) => self.db.cluster().tables().wait_durable(logged).await,
            None => Ok(()),
        }
    }
}

impl QuerySession for Session {
    type Statement = Parsed;
    type Prepared = Prepared;

    fn parse(&self, sql: &str) -> Result<Vec<Parsed>> {
        millstream_sql::parse(sql)
    }

    fn offset(statement: &Parsed) -> usize {
        statement.offset
    }

    async fn run(&mut self, statement: &Parsed) -> Result<Response> {
        if parameters::count(&statement.statement) > 0 {
            self.fail_transaction();
            return Err(Error::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"));
        }
        self.execute_one(statement).await
    }

    fn prepare(&mut self, statement: Parsed, types: &[Option<SqlType>]) -> Result<Prepared> {
        let substituted = functions::substitute(self, &statement)?;
        let described = statement::describe(self, substituted.as_ref().unwrap_or(&statement))?;
        let mut params: Vec<SqlType> = types.iter().map(|t| t.clone().unwrap_or(SqlType::Unknown)).collect();
        let count = parameters::count(&statement.statement).max(params.len());
        params.resize(count, SqlType::Unknown);
        for (param, inferred) in params.iter_mut().zip(described.params.iter().chain(std::iter::repeat(&SqlType::Unknown))) {
            if *param == SqlType::Unknown {
                // Like PostgreSQL: a parameter of which nothing is known is text.
                *param = if *inferred == SqlType::Unknown { SqlType::Text } else { inferred.clone() };
            }
        }
        Ok(Prepared { parsed: statement, params, columns: described.columns })
    }

    fn parameter_types(prepared: &Prepared) -> &[SqlType] {
        &prepared.params
    }

    fn columns(prepared: &Prepared) -> Option<&Schema> {
        prepared.columns.as_ref()
    }

    async fn execute(&mut self, prepared: &Prepared, parameters: &[Datum]) -> Result<Response> {
        let parsed = parameters::bind(&prepared.parsed, parameters)?;
        self.execute_one(&parsed).await
    }

    fn begin_implicit(&mut self) {
        if self.transaction.is_none() {
            self.transaction = Some(Transaction::new(Block::Implicit));
        }
    }

    async fn end_implicit(&mut self, ok: bool) -> Result<()> {
        match &self.transaction {
            Some(t) if t.block == Block::Implicit => {
                if ok && !t.failed {
                    statement::transaction::commit(self).await?;
                    self.acknowledge().await
                } else {
                    statement::transaction::rollback(self);
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    fn fail_transaction(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.failed = true;
        }
    }

    fn transaction_status(&self) -> TransactionStatus {
        match &self.transaction {
            Some(t) if t.block == Block::Implicit => TransactionStatus::Idle,
            Some(t) if t.failed => TransactionStatus::Failed,
            Some(_) => TransactionStatus::InTransaction,
            None => TransactionStatus::Idle,
        }
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    fn parameters(&self) -> Vec<(String, String)> {
        self.settings.reported()
    }

    fn take_changed_parameters(&mut self) -> Vec<(String, String)> {
        self.settings.take_changed()
    }
}

//! The extended protocol: Parse, Bind, Describe, Execute, Close and Sync.

use std::sync::Arc;

use datafusion::execution::SendableRecordBatchStream;
use millstream_types::{Datum, Error, Result, Schema, SqlState, SqlType};
use pgwire::api::Type;
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{BindComplete, CloseComplete, ParseComplete, PortalSuspended};
use pgwire::messages::response::EmptyQueryResponse;
use tokio::io::{AsyncRead, AsyncWrite};

use super::connection::{Connection, shifted};
use super::encode::Format;
use super::frame::violation;
use super::interrupt::{Cancel, interruptible, shutdown};
use super::message::{Bind, Parse, Target};
use super::parameter::parameter;
use super::portal::{Portal, PortalState, PreparedStatement, RowCursor};
use super::service::{QuerySession, Response, TransactionStatus};
use super::types::{from_oid, oid};
use super::{Failure, Hangup};

/// The rows of a statement that began to run, and their tag if it is known.
type Started = (Schema, SendableRecordBatchStream, Option<String>);

impl<S, R, W> Connection<S, R, W>
where
    S: QuerySession,
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    pub(super) fn parse(&mut self, parse: Parse) -> Result<(), Failure> {
        if parse.name.is_empty() {
            self.statements.remove("");
        } else if self.statements.contains_key(&parse.name) {
            return Err(duplicate("42P05", format!("prepared statement \"{}\" already exists", parse.name)).into());
        }
        let types = parse.types.iter().map(|oid| declared_type(*oid)).collect::<Result<Vec<_>>>()?;
        let mut statements = self.session.parse(&parse.sql)?;
        let statement = statements.pop();
        if !statements.is_empty() {
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(Error::new(SqlState::SYNTAX_ERROR, message).into());
        }
        let offset = statement.as_ref().map_or(0, S::offset);
        let prepared = match statement {
            Some(statement) => Some(self.session.prepare(statement, &types).map_err(|e| shifted(e.into(), offset))?),
            None => None,
        };
        let types = prepared.as_ref().map(S::parameter_types).unwrap_or_default();
        let parameter_oids = types.iter().enumerate().map(|(i, t)| {
            // A client that said varchar hears varchar again.
            parse.types.get(i).copied().filter(|declared| from_oid(*declared).as_ref() == Some(t)).unwrap_or_else(|| oid(t))
        });
        let statement = PreparedStatement { parameter_oids: parameter_oids.collect(), prepared, offset };
        self.statements.insert(parse.name, Arc::new(statement));
        Ok(self.out.send(PgWireBackendMessage::ParseComplete(ParseComplete::new()))?)
    }

    pub(super) fn bind(&mut self, bind: Bind) -> Result<()> {
        let statement = Arc::clone(self.statement(&bind.statement)?);
        let types = statement.prepared.as_ref().map(S::parameter_types).unwrap_or_default();
        if bind.values.len() != types.len() {
            let (have, name, need) = (bind.values.len(), &bind.statement, types.len());
            let message = format!("bind message supplies {have} parameters, but prepared statement \"{name}\" requires {need}");
            return Err(violation(message));
        }
        let formats = per_column(&bind.formats, types.len(), |have, need| {
            format!("bind message has {have} parameter formats but {need} parameters")
        })?;
        let values = bind.values.iter().zip(types).zip(formats).enumerate();
        let parameters = values.map(|(i, ((value, t), format))| parameter(value, t, format, i + 1)).collect::<Result<_>>()?;
        let columns = statement.columns().map_or(0, Schema::len);
        let formats = per_column(&bind.result_formats, columns, |have, need| {
            format!("bind message has {have} result formats but query has {need} columns")
        })?;
        if !bind.portal.is_empty() && self.portals.contains_key(&bind.portal) {
            return Err(duplicate("42P03", format!("cursor \"{}\" already exists", bind.portal)));
        }
        self.portals.insert(bind.portal, Portal { statement, parameters, formats, state: PortalState::Ready });
        self.out.send(PgWireBackendMessage::BindComplete(BindComplete::new()))
    }

    pub(super) fn describe(&mut self, target: &Target) -> Result<()> {
        let (statement, formats) = match target {
            Target::Statement(name) => {
                let statement = Arc::clone(self.statement(name)?);
                let types = statement.parameter_oids.clone();
                self.out.send(PgWireBackendMessage::ParameterDescription(ParameterDescription::new(types)))?;
                let columns = statement.columns().map_or(0, Schema::len);
                (statement, vec![Format::Text; columns])
            }
            Target::Portal(name) => {
                let portal = self.portals.get(name).ok_or_else(|| no_portal(name))?;
                (Arc::clone(&portal.statement), portal.formats.clone())
            }
        };
        match statement.columns() {
            Some(schema) => self.out.describe(schema, &formats),
            None => self.out.send(PgWireBackendMessage::NoData(NoData::new())),
        }
    }

    pub(super) fn close(&mut self, target: &Target) -> Result<()> {
        match target {
            Target::Statement(name) => drop(self.statements.remove(name)),
            Target::Portal(name) => drop(self.portals.remove(name)),
        }
        self.out.send(PgWireBackendMessage::CloseComplete(CloseComplete::new()))
    }

    pub(super) async fn execute(&mut self, name: &str, max_rows: usize) -> Result<(), Failure> {
        let portal = self.portals.remove(name).ok_or_else(|| no_portal(name))?;
        let offset = portal.statement.offset;
        self.run_portal(name, portal, max_rows).await.map_err(|failure| shifted(failure, offset))
    }

    /// Runs a portal and puts it back under its name; an error drops it.
    async fn run_portal(&mut self, name: &str, mut portal: Portal<S>, max_rows: usize) -> Result<(), Failure> {
        let mut cancel = Cancel(Some(self.registration.begin()));
        let state = std::mem::replace(&mut portal.state, PortalState::Done { rows: false });
        let (mut rows, tag) = match state {
            PortalState::Suspended { rows, tag } => (rows, tag),
            PortalState::Done { rows: true } => {
                portal.state = PortalState::Done { rows: true };
                self.portals.insert(name.to_owned(), portal);
                return Ok(self.out.complete("SELECT 0".to_owned())?);
            }
            PortalState::Done { rows: false } if portal.statement.prepared.is_some() => {
                let state = SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE;
                return Err(Error::new(state, format!("portal \"{name}\" cannot be run")).into());
            }
            PortalState::Done { .. } | PortalState::Ready => match self.start(&portal.statement, &portal.parameters, &mut cancel).await? {
                Some((schema, stream, tag)) => (RowCursor::new(schema, portal.formats.clone(), stream), tag),
                None => {
                    self.portals.insert(name.to_owned(), portal);
                    return Ok(());
                }
            },
        };
        let (count, ended) = self.send_rows(&mut rows, max_rows, &mut cancel).await?;
        if ended {
            portal.state = PortalState::Done { rows: true };
            self.complete(tag.unwrap_or_else(|| format!("SELECT {count}")))?;
        } else {
            portal.state = PortalState::Suspended { rows, tag };
            self.out.send(PgWireBackendMessage::PortalSuspended(PortalSuspended::new()))?;
        }
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    /// Runs a statement: its rows and their tag, or `None` when the answer was sent.
    async fn start(
        &mut self,
        statement: &PreparedStatement<S>,
        parameters: &[Datum],
        cancel: &mut Cancel,
    ) -> Result<Option<Started>, Failure> {
        let Some(prepared) = &statement.prepared else {
            self.out.send(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()))?;
            return Ok(None);
        };
        self.join_pipeline().await?;
        let running = self.session.execute(prepared, parameters);
        let response = interruptible(&mut self.reader, &mut self.stop, cancel, running).await??;
        self.forward_notices()?;
        let (schema, stream, tag) = match response {
            Response::Empty => {
                self.out.send(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()))?;
                return Ok(None);
            }
            Response::Command { tag } => {
                self.complete(tag)?;
                return Ok(None);
            }
            Response::Rows { schema, stream } => (schema, stream, None),
            Response::RowsWithTag { schema, stream, tag } => (schema, stream, Some(tag)),
        };
        let types = |s: &Schema| s.columns.iter().map(|c| c.sql_type.clone()).collect::<Vec<_>>();
        if statement.columns().map(types).as_ref() != Some(&types(&schema)) {
            return Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, "cached plan must not change result type").into());
        }
        Ok(Some((schema, stream, tag)))
    }

    /// Everything up to Sync is one transaction, as in PostgreSQL. A lone statement needs none: that shows in the next message, which
    /// a client that wants an answer has to send anyway.
    async fn join_pipeline(&mut self) -> Result<(), Failure> {
        let next = tokio::select! {
            biased;
            () = self.stop.stopped() => return Err(shutdown().into()),
            next = self.reader.peek() => next?,
        };
        match next {
            None => return Err(Hangup::Quietly.into()),
            Some(b'S') => (),
            Some(_) if self.session.transaction_status() == TransactionStatus::Idle => {
                self.session.begin_implicit();
                self.implicit = true;
            }
            Some(_) => (),
        }
        Ok(())
    }

    pub(super) async fn sync(&mut self) -> Result<(), Failure> {
        self.commit_implicit().await?;
        Ok(self.ready().await?)
    }

    fn statement(&self, name: &str) -> Result<&Arc<PreparedStatement<S>>> {
        self.statements.get(name).ok_or_else(|| {
            let message = match name {
                "" => "unnamed prepared statement does not exist".to_owned(),
                name => format!("prepared statement \"{name}\" does not exist"),
            };
            Error::new(SqlState::INVALID_SQL_STATEMENT_NAME, message)
        })
    }
}

fn no_portal(name: &str) -> Error {
    Error::new(SqlState::INVALID_CURSOR_NAME, format!("portal \"{name}\" does not exist"))
}

fn duplicate(code: &str, message: String) -> Error {
    Error::new(SqlState::from_code(code).unwrap_or(SqlState::DUPLICATE_OBJECT), message)
}

/// What a client declares for a parameter: 0 and `unknown` leave it to us.
fn declared_type(oid: u32) -> Result<Option<SqlType>> {
    if oid == 0 || oid == Type::UNKNOWN.oid() {
        return Ok(None);
    }
    let known = from_oid(oid).map(Some);
    known.ok_or_else(|| match Type::from_oid(oid) {
        Some(t) => Error::unsupported(format!("a parameter of type {t}")),
        None => Error::new(SqlState::UNDEFINED_OBJECT, format!("type with OID {oid} does not exist")),
    })
}

/// Formats of `count` columns from none (all text), one (for all) or one each.
fn per_column(codes: &[i16], count: usize, wrong: impl Fn(usize, usize) -> String) -> Result<Vec<Format>> {
    match codes {
        [] => Ok(vec![Format::Text; count]),
        [one] => Ok(vec![Format::from_code(*one)?; count]),
        each if each.len() == count => each.iter().map(|code| Format::from_code(*code)).collect(),
        other => Err(violation(wrong(other.len(), count))),
    }
}

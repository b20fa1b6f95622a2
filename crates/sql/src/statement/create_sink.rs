//! `CREATE SINK`.

use std::fmt;

use sqlparser::ast::ObjectName;

use super::create_table::RelationDefinition;
use super::data::SelectStatement;
use super::options::Connector;

/// `CREATE SINK [IF NOT EXISTS] name [(columns)] [FROM rel | AS query] WITH (...) [FORMAT ...]`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSink {
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The new sink.
    pub name: ObjectName,
    /// Its columns, where written; never a watermark.
    pub definition: RelationDefinition,
    /// Where its rows come from.
    pub input: SinkInput,
    /// Connector and format.
    pub connector: Connector,
}

/// Where a sink's rows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum SinkInput {
    /// From the jobs that insert into it.
    Jobs,
    /// `FROM relation`: every change of it.
    Relation(ObjectName),
    /// `AS query`.
    Query(SelectStatement),
}

impl fmt::Display for CreateSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let condition = if self.if_not_exists { "IF NOT EXISTS " } else { "" };
        write!(f, "CREATE SINK {condition}{}{}", self.name, self.definition)?;
        match &self.input {
            SinkInput::Jobs => {}
            SinkInput::Relation(name) => write!(f, " FROM {name}")?,
            SinkInput::Query(query) => write!(f, " AS {query}")?,
        }
        self.connector.fmt(f)
    }
}

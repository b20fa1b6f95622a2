//! Queries and changes of data.

use millstream_types::Error;
use sqlparser::ast::{OnInsert, Statement as Ast};
use sqlparser::tokenizer::Token;

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::normalize::normalize;
use crate::statement::{Emit, Insert, SelectStatement, Statement, Truncate};

impl StatementParser<'_> {
    /// A query as a statement.
    pub(super) fn query_statement(&mut self) -> Parse<Statement> {
        if !(self.ahead("select") || self.ahead("with") || self.ahead("values") || self.ahead("table") || *self.peek(0) == Token::LParen) {
            return Err(Fault::Here);
        }
        Ok(Statement::Query(self.select()?))
    }

    /// A query with its emit clause.
    pub(super) fn select(&mut self) -> Parse<SelectStatement> {
        let mut query = self.parser.parse_query()?;
        normalize(&mut query, self.text)?;
        Ok(SelectStatement { query, emit: self.emit()? })
    }

    fn emit(&mut self) -> Parse<Option<Emit>> {
        if !self.take("emit") {
            return Ok(None);
        }
        if self.take("changes") {
            return Ok(Some(Emit::Changes));
        }
        self.expect("on window close")?;
        Ok(Some(Emit::OnWindowClose))
    }

    /// `INSERT INTO ...`.
    pub(super) fn insert(&mut self) -> Parse<Insert> {
        if self.ahead("insert overwrite") {
            return Err(self.unsupported("INSERT OVERWRITE"));
        }
        if !self.ahead("insert into") {
            self.expect("insert into")?;
        }
        let Ast::Insert(mut insert) = self.parser.parse_statement()? else { return Err(Fault::Here) };
        let foreign = [
            (insert.has_table_keyword, "INSERT INTO TABLE"),
            (insert.partitioned.is_some(), "PARTITION"),
            (insert.output.is_some(), "OUTPUT"),
            (insert.source.is_none() && !insert.assignments.is_empty(), "INSERT ... SET"),
            (matches!(insert.on, Some(OnInsert::DuplicateKeyUpdate(_))), "ON DUPLICATE KEY UPDATE"),
        ];
        if let Some((_, what)) = foreign.iter().find(|(found, _)| *found) {
            return Err(Error::unsupported(what).into());
        }
        normalize(&mut insert, self.text)?;
        Ok(Insert { insert: Box::new(insert), emit: self.emit()? })
    }

    /// UPDATE and DELETE.
    pub(super) fn change(&mut self) -> Parse<Statement> {
        let mut statement = self.parser.parse_statement()?;
        normalize(&mut statement, self.text)?;
        match statement {
            Ast::Update(update) => Ok(Statement::Update(Box::new(update))),
            Ast::Delete(delete) => Ok(Statement::Delete(Box::new(delete))),
            _ => Err(Fault::Here),
        }
    }

    /// TRUNCATE.
    pub(super) fn truncate(&mut self) -> Parse<Statement> {
        self.expect("truncate")?;
        self.take("table");
        self.take("only");
        let tables = self.list(Self::name)?;
        let restart_identity = self.take("restart identity");
        if !restart_identity {
            self.take("continue identity");
        }
        let cascade = self.take("cascade");
        if !cascade {
            self.take("restrict");
        }
        Ok(Statement::Truncate(Truncate { tables, restart_identity, cascade }))
    }
}

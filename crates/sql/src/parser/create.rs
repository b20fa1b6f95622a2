//! CREATE of everything but jobs.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::lexer::is_word;
use crate::statement::{
    Connector, CreateMaterializedView, CreateNamespace, CreateSink, CreateTable, CreateView, SelectStatement, SinkInput, Statement,
};

impl StatementParser<'_> {
    /// `CREATE ...`.
    pub(super) fn create(&mut self) -> Parse<Statement> {
        if self.take("create table") {
            return Ok(self.create_table()?.map_or_else(|| self.known_unsupported("CREATE TABLE AS"), Statement::CreateTable));
        }
        if self.take("create source") {
            return Ok(self.create_table()?.map_or_else(|| self.known_unsupported("CREATE SOURCE AS"), Statement::CreateSource));
        }
        if self.take("create sink") {
            return self.create_sink();
        }
        if self.take("create materialized view") {
            return self.create_materialized_view();
        }
        if self.take("create streaming job") {
            return self.create_streaming_job();
        }
        let or_replace = self.take("create or replace view");
        if or_replace || self.take("create view") {
            let (name, columns) = (self.name()?, self.maybe_parenthesized(Self::ident)?);
            self.expect("as")?;
            let query = self.select()?;
            return Ok(Statement::CreateView(CreateView { or_replace, name, columns, query }));
        }
        if self.take("create database") {
            return Ok(Statement::CreateDatabase(self.namespace()?));
        }
        if self.take("create schema") {
            return Ok(Statement::CreateSchema(self.namespace()?));
        }
        self.other()
    }

    fn namespace(&mut self) -> Parse<CreateNamespace> {
        let if_not_exists = self.if_not_exists();
        let name = self.name()?;
        for clause in ["authorization", "owner", "template", "encoding", "with"] {
            if self.ahead(clause) {
                return Err(self.unsupported(&clause.to_uppercase()));
            }
        }
        Ok(CreateNamespace { if_not_exists, name })
    }

    /// A table or source; `None` for `CREATE ... AS query`.
    fn create_table(&mut self) -> Parse<Option<CreateTable>> {
        let if_not_exists = self.if_not_exists();
        let name = self.name()?;
        let definition = self.relation_definition(&name)?;
        for clause in ["partition by", "partitioned by", "inherits", "using", "include", "like", "comment"] {
            if self.ahead(clause) {
                return Err(self.unsupported(&clause.to_uppercase()));
            }
        }
        let connector = self.connector()?;
        if self.ahead("as") {
            return Ok(None);
        }
        if !definition.has_parentheses && connector == Connector::default() {
            return Err(Fault::Here);
        }
        Ok(Some(CreateTable { if_not_exists, name, definition, connector }))
    }

    fn create_sink(&mut self) -> Parse<Statement> {
        let if_not_exists = self.if_not_exists();
        let name = self.name()?;
        let definition = self.relation_definition(&name)?;
        if self.ahead("into") {
            return Ok(self.known_unsupported("CREATE SINK INTO"));
        }
        let input = if self.take("from") {
            SinkInput::Relation(self.name()?)
        } else if self.take("as") {
            SinkInput::Query(self.query_before_options()?)
        } else {
            SinkInput::Jobs
        };
        let connector = self.connector()?;
        if connector.options.is_empty() {
            return Err(Fault::Here);
        }
        Ok(Statement::CreateSink(CreateSink { if_not_exists, name, definition, input, connector }))
    }

    /// A query that ends at the statement's last `WITH (` outside parentheses: left to itself, sqlparser takes that for table hints.
    fn query_before_options(&mut self) -> Parse<SelectStatement> {
        let start = self.parser.index();
        let mut tokens: Vec<TokenWithSpan> =
            (start..).map(|i| self.parser.token_at(i).clone()).take_while(|t| t.token != Token::EOF).collect();
        let mut depth = 0_usize;
        let mut end = tokens.len();
        for (i, t) in tokens.iter().enumerate() {
            match t.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                _ if depth == 0 && is_word(&t.token, "with") => {
                    let next = tokens[i + 1..].iter().find(|t| !matches!(t.token, Token::Whitespace(_)));
                    if next.is_some_and(|t| t.token == Token::LParen) {
                        end = i;
                    }
                }
                _ => {}
            }
        }
        tokens.truncate(end);
        let mut inner = StatementParser::new(tokens, self.text, self.dialect);
        let result = inner.select().and_then(|query| inner.end().map(|()| query));
        let at_end = *inner.peek(0) == Token::EOF;
        match result {
            Err(Fault::Own(e)) => Err(Fault::Own(e)),
            Err(fault) if !at_end => Err(Fault::Own(fault.into_error(&inner.parser, self.text))),
            other => {
                while self.parser.index() < start + end {
                    self.parser.next_token_no_skip();
                }
                other.map_err(|_| Fault::Here)
            }
        }
    }

    fn create_materialized_view(&mut self) -> Parse<Statement> {
        let if_not_exists = self.if_not_exists();
        let (name, columns) = (self.name()?, self.maybe_parenthesized(Self::ident)?);
        let options = self.with_options()?;
        self.expect("as")?;
        let query = self.select()?;
        if self.ahead("with no data") {
            return Err(self.unsupported("WITH NO DATA"));
        }
        self.take("with data");
        Ok(Statement::CreateMaterializedView(CreateMaterializedView { if_not_exists, name, columns, options, query }))
    }
}

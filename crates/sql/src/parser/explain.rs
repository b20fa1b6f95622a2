//! EXPLAIN.

use millstream_types::{Error, SqlState};
use sqlparser::tokenizer::Token;

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::statement::{Explain, ExplainFormat, ExplainStage, ExplainTarget, Statement};

impl StatementParser<'_> {
    /// `EXPLAIN [ANALYZE] [VERBOSE] [(options)] statement | JOB j`.
    pub(super) fn explain(&mut self) -> Parse<Statement> {
        self.expect("explain")?;
        let analyze = self.take("analyze");
        let verbose = self.take("verbose");
        let target = ExplainTarget::Statement(Box::new(Statement::DiscardAll));
        let mut explain = Explain { analyze, verbose, stages: Vec::new(), format: None, target };
        if *self.peek(0) == Token::LParen && !self.opens_query() {
            self.parenthesized(|p| p.explain_option(&mut explain))?;
        }
        explain.target = if self.take("job") {
            ExplainTarget::Job(self.name()?)
        } else if self.ahead("explain") {
            return Err(Fault::Here);
        } else {
            match self.statement()? {
                missing @ Statement::Unsupported { .. } => return Ok(missing),
                statement => ExplainTarget::Statement(Box::new(statement)),
            }
        };
        Ok(Statement::Explain(explain))
    }

    /// `EXPLAIN (SELECT ...)`.
    fn opens_query(&self) -> bool {
        match self.peek(1) {
            Token::LParen => true,
            Token::Word(w) => w.quote_style.is_none() && ["select", "with", "values", "table"].contains(&w.value.as_str()),
            _ => false,
        }
    }

    fn explain_option(&mut self, explain: &mut Explain) -> Parse<()> {
        let position = self.position().0;
        if let Some(stage) = ExplainStage::ALL.into_iter().find(|stage| self.take(&stage.to_string().to_lowercase())) {
            if self.boolean()? {
                explain.stages.push(stage);
            }
        } else if self.take("analyze") {
            explain.analyze = self.boolean()?;
        } else if self.take("verbose") {
            explain.verbose = self.boolean()?;
        } else if self.take("format") {
            let word = self.scalar()?;
            explain.format = Some(match word.to_lowercase().as_str() {
                "text" => ExplainFormat::Text,
                "json" => ExplainFormat::Json,
                "dot" => ExplainFormat::Dot,
                _ => {
                    let error = Error::new(
                        SqlState::INVALID_PARAMETER_VALUE,
                        format!("unrecognized value for EXPLAIN option \"format\": \"{word}\""),
                    );
                    return Err(error.with_hint("the formats are text, json and dot").with_position(position).into());
                }
            });
        } else {
            let Token::Word(word) = self.peek(0) else { return Err(Fault::Here) };
            let error = Error::new(SqlState::SYNTAX_ERROR, format!("unrecognized EXPLAIN option \"{}\"", word.value));
            let hint = "the options are logical, stream graph, job graph, execution graph, changelog, state, analyze, verbose and format";
            return Err(error.with_hint(hint).with_position(position).into());
        }
        Ok(())
    }

    /// An optional boolean: `ANALYZE`, `ANALYZE true`, `ANALYZE off`.
    fn boolean(&mut self) -> Parse<bool> {
        for (word, value) in [("true", true), ("on", true), ("false", false), ("off", false)] {
            if self.take(word) {
                return Ok(value);
            }
        }
        if matches!(self.peek(0), Token::Comma | Token::RParen) { Ok(true) } else { Err(Fault::Here) }
    }
}

//! SHOW and DESCRIBE.

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::statement::{ObjectType, Show, ShowObjects, Statement};

impl StatementParser<'_> {
    /// SHOW.
    pub(super) fn show(&mut self) -> Parse<Statement> {
        self.expect("show")?;
        if self.take("create") {
            let kind = self.object_type().ok_or(Fault::Here)?;
            return Ok(Statement::Show(Show::Create(kind, self.name()?)));
        }
        if self.take("columns") {
            if !self.take("in") {
                self.expect("from")?;
            }
            return Ok(Statement::Show(Show::Columns(self.name()?)));
        }
        if self.take("checkpoints") {
            self.expect("for")?;
            if !self.take("streaming job") {
                self.expect("job")?;
            }
            return Ok(Statement::Show(Show::Checkpoints(self.name()?)));
        }
        let plural = ObjectType::ALL.into_iter().map(|kind| (format!("{}s", kind.keyword().to_lowercase()), kind));
        for (words, object_type) in plural.chain([("jobs".to_string(), ObjectType::StreamingJob)]) {
            if self.take(&words) {
                let schema = if self.take("from") || self.take("in") { Some(self.ident()?) } else { None };
                let pattern = if self.take("like") { Some(self.string()?) } else { None };
                return Ok(Statement::Show(Show::Objects(ShowObjects { object_type, schema, pattern })));
            }
        }
        for (words, name) in [
            ("time zone", "timezone"),
            ("transaction isolation level", "transaction_isolation"),
            ("session authorization", "session_authorization"),
        ] {
            if self.take(words) {
                return Ok(Statement::Show(Show::Variable(name.to_string())));
            }
        }
        if self.take("all") {
            return Ok(Statement::Show(Show::All));
        }
        Ok(Statement::Show(Show::Variable(self.setting_name()?)))
    }

    /// `DESCRIBE JOB j`, `DESCRIBE t`.
    pub(super) fn describe(&mut self) -> Parse<Statement> {
        if !self.take("desc") {
            self.expect("describe")?;
        }
        if self.take("streaming job") || (matches!(self.peek(1), sqlparser::tokenizer::Token::Word(_)) && self.take("job")) {
            return Ok(Statement::DescribeJob(self.name()?));
        }
        Ok(Statement::Show(Show::Columns(self.name()?)))
    }
}

//! Streaming jobs.

use sqlparser::tokenizer::Token;

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::statement::{CreateStreamingJob, JobBody, Statement};

impl StatementParser<'_> {
    /// After `CREATE STREAMING JOB`.
    pub(super) fn create_streaming_job(&mut self) -> Parse<Statement> {
        let if_not_exists = self.if_not_exists();
        let name = self.name()?;
        let options = self.with_options()?;
        if self.ahead("from savepoint") {
            return Ok(self.known_unsupported("CREATE STREAMING JOB FROM SAVEPOINT"));
        }
        self.expect("as")?;
        let body = if self.take("begin") {
            let mut inserts = vec![self.insert()?];
            while self.take_symbol(&Token::SemiColon) && !self.ahead("end") {
                inserts.push(self.insert()?);
            }
            self.expect("end")?;
            JobBody::Block(inserts)
        } else {
            JobBody::Insert(self.insert()?)
        };
        Ok(Statement::CreateStreamingJob(CreateStreamingJob { if_not_exists, name, options, body }))
    }

    /// `PAUSE | RESUME | CANCEL STREAMING JOB name`.
    pub(super) fn job_control(&mut self) -> Parse<Statement> {
        let make = if self.take("pause") {
            Statement::PauseJob
        } else if self.take("resume") {
            Statement::ResumeJob
        } else if self.take("cancel") {
            Statement::CancelJob
        } else {
            return Err(Fault::Here);
        };
        self.take("streaming");
        self.expect("job")?;
        Ok(make(self.name()?))
    }
}

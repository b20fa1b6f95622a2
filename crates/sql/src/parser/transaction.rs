//! Transactions.

use sqlparser::tokenizer::Token;

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::statement::{IsolationLevel, Statement, TransactionEnd, TransactionModes};

impl StatementParser<'_> {
    /// BEGIN, START TRANSACTION.
    pub(super) fn begin(&mut self) -> Parse<Statement> {
        if self.take("begin") {
            self.work();
        } else {
            self.expect("start transaction")?;
        }
        Ok(Statement::Begin(self.transaction_modes(false)?))
    }

    fn work(&mut self) {
        if !self.take("work") {
            self.take("transaction");
        }
    }

    /// Modes, with or without commas; at least one where `required`.
    pub(super) fn transaction_modes(&mut self, required: bool) -> Parse<TransactionModes> {
        let mut modes = TransactionModes::default();
        let mut more = required;
        while more || *self.peek(0) != Token::EOF {
            if self.take("isolation level") {
                modes.isolation = Some(self.isolation_level()?);
            } else if self.take("read only") {
                modes.read_only = Some(true);
            } else if self.take("read write") {
                modes.read_only = Some(false);
            } else if self.take("deferrable") {
                modes.deferrable = Some(true);
            } else if self.take("not deferrable") {
                modes.deferrable = Some(false);
            } else {
                return Err(Fault::Here);
            }
            more = self.take_symbol(&Token::Comma);
        }
        Ok(modes)
    }

    fn isolation_level(&mut self) -> Parse<IsolationLevel> {
        for (words, level) in [
            ("read uncommitted", IsolationLevel::ReadUncommitted),
            ("read committed", IsolationLevel::ReadCommitted),
            ("repeatable read", IsolationLevel::RepeatableRead),
            ("serializable", IsolationLevel::Serializable),
        ] {
            if self.take(words) {
                return Ok(level);
            }
        }
        Err(Fault::Here)
    }

    /// COMMIT, END.
    pub(super) fn commit(&mut self) -> Parse<Statement> {
        if self.ahead("commit prepared") {
            return Ok(self.known_unsupported("COMMIT PREPARED"));
        }
        self.parser.advance_token();
        Ok(Statement::Commit(self.transaction_end()?))
    }

    /// ROLLBACK, ABORT.
    pub(super) fn rollback(&mut self) -> Parse<Statement> {
        if self.ahead("rollback prepared") {
            return Ok(self.known_unsupported("ROLLBACK PREPARED"));
        }
        self.parser.advance_token();
        self.work();
        if self.ahead("to") {
            return Ok(self.known_unsupported("ROLLBACK TO SAVEPOINT"));
        }
        Ok(Statement::Rollback(self.transaction_end()?))
    }

    fn transaction_end(&mut self) -> Parse<TransactionEnd> {
        self.work();
        let chain = self.take("and chain");
        if !chain {
            self.take("and no chain");
        }
        Ok(TransactionEnd { chain })
    }
}

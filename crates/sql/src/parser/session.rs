//! SET and RESET.

use sqlparser::tokenizer::Token;

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::statement::{Reset, SetScope, SetVariable, Statement};

impl StatementParser<'_> {
    /// SET.
    pub(super) fn set(&mut self) -> Parse<Statement> {
        for (words, name) in [
            ("set constraints", "SET CONSTRAINTS"),
            ("set role", "SET ROLE"),
            ("set session authorization", "SET SESSION AUTHORIZATION"),
            ("set local role", "SET ROLE"),
            ("set session role", "SET ROLE"),
        ] {
            if self.ahead(words) && !matches!(self.peek(words.split(' ').count()), Token::Eq) {
                return Ok(self.known_unsupported(name));
            }
        }
        if self.take("set session characteristics as transaction") {
            return Ok(Statement::SetTransaction(self.transaction_modes(true)?, true));
        }
        if self.take("set transaction") {
            if self.ahead("snapshot") {
                return Ok(self.known_unsupported("SET TRANSACTION SNAPSHOT"));
            }
            return Ok(Statement::SetTransaction(self.transaction_modes(true)?, false));
        }
        self.expect("set")?;
        let local = self.take("local");
        if !local && !matches!(self.peek(1), Token::Eq | Token::Period) && !self.ahead("session to") {
            self.take("session");
        }
        let scope = if local { SetScope::Local } else { SetScope::Session };
        let position = self.position();
        let special = [("time zone", "timezone"), ("names", "client_encoding"), ("schema", "search_path")];
        let special =
            special.into_iter().find(|(words, _)| !matches!(self.peek(1), Token::Eq) && !self.ahead("schema to") && self.take(words));
        if let Some((_, name)) = special {
            let values = self.set_values("local")?;
            return Ok(Statement::SetVariable(SetVariable { scope, name: name.to_string(), values, position }));
        }
        let name = self.setting_name()?;
        if !self.take_symbol(&Token::Eq) {
            self.expect("to")?;
        }
        let values = self.set_values("default")?;
        Ok(Statement::SetVariable(SetVariable { scope, name, values, position }))
    }

    fn set_values(&mut self, default: &str) -> Parse<Option<Vec<String>>> {
        if self.take("default") || self.take(default) {
            return Ok(None);
        }
        Ok(Some(self.list(Self::scalar)?))
    }

    /// A setting's name: words with dots.
    pub(super) fn setting_name(&mut self) -> Parse<String> {
        let mut name = String::new();
        loop {
            let Token::Word(word) = self.peek(0).clone() else { return Err(Fault::Here) };
            self.parser.advance_token();
            name.push_str(&word.value.to_lowercase());
            if !self.take_symbol(&Token::Period) {
                return Ok(name);
            }
            name.push('.');
        }
    }

    /// RESET.
    pub(super) fn reset(&mut self) -> Parse<Statement> {
        self.expect("reset")?;
        let name = if self.take("all") {
            None
        } else if self.take("time zone") {
            Some("timezone".to_string())
        } else {
            Some(self.setting_name()?)
        };
        Ok(Statement::Reset(Reset { name }))
    }
}

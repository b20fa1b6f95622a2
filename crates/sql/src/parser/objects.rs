//! DROP, COMMENT ON, and prepared statements.

use super::statement_parser::StatementParser;
use crate::fault::{Fault, Parse};
use crate::normalize::normalize;
use crate::statement::{Comment, Deallocate, Drop, Execute, ObjectType, Prepare, Statement};

impl StatementParser<'_> {
    /// A kind of object, if one comes next.
    pub(super) fn object_type(&mut self) -> Option<ObjectType> {
        ObjectType::ALL.into_iter().find(|kind| self.take(&kind.keyword().to_lowercase()))
    }

    /// `DROP <kind> ...`.
    pub(super) fn drop(&mut self) -> Parse<Statement> {
        if self.unsupported_object(1).is_some() {
            return self.other();
        }
        self.expect("drop")?;
        let object_type = self.object_type().ok_or(Fault::Here)?;
        let if_exists = self.take("if exists");
        let names = self.list(Self::name)?;
        let cascade = self.take("cascade");
        if !cascade {
            self.take("restrict");
        }
        Ok(Statement::Drop(Drop { object_type, if_exists, names, cascade }))
    }

    /// `COMMENT ON <kind> name IS ...`.
    pub(super) fn comment(&mut self) -> Parse<Statement> {
        if self.unsupported_object(2).is_some() {
            return self.other();
        }
        self.expect("comment on")?;
        let object_type = if self.take("column") { None } else { Some(self.object_type().ok_or(Fault::Here)?) };
        let name = self.name()?;
        self.expect("is")?;
        let comment = if self.take("null") { None } else { Some(self.string()?) };
        Ok(Statement::Comment(Comment { object_type, name, comment }))
    }

    /// `PREPARE name [(types)] AS statement`.
    pub(super) fn prepare(&mut self) -> Parse<Statement> {
        if self.ahead("prepare transaction") {
            return Ok(self.known_unsupported("PREPARE TRANSACTION"));
        }
        self.expect("prepare")?;
        let (name, types) = (self.ident()?, self.maybe_parenthesized(Self::data_type)?);
        self.expect("as")?;
        for verb in ["select", "with", "values", "table", "insert", "update", "delete"] {
            if self.ahead(verb) {
                let statement = Box::new(self.statement()?);
                return Ok(Statement::Prepare(Prepare { name, types, statement }));
            }
        }
        Err(Fault::Here)
    }

    /// `EXECUTE name [(values)]`.
    pub(super) fn execute(&mut self) -> Parse<Statement> {
        self.expect("execute")?;
        let name = self.ident()?;
        let mut parameters = self.maybe_parenthesized(Self::expr)?;
        for parameter in &mut parameters {
            normalize(parameter, self.text)?;
        }
        Ok(Statement::Execute(Execute { name, parameters }))
    }

    /// `DEALLOCATE [PREPARE] name | ALL`.
    pub(super) fn deallocate(&mut self) -> Parse<Statement> {
        self.expect("deallocate")?;
        self.take("prepare");
        let name = if self.take("all") { None } else { Some(self.ident()?) };
        Ok(Statement::Deallocate(Deallocate { name }))
    }

    /// `DISCARD ALL`.
    pub(super) fn discard(&mut self) -> Parse<Statement> {
        for kind in ["plans", "sequences", "temp", "temporary"] {
            if self.ahead(&format!("discard {kind}")) {
                return self.other();
            }
        }
        self.expect("discard all")?;
        Ok(Statement::DiscardAll)
    }
}

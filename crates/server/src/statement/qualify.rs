//! Names with their schema, so that a stored query means the same under any search path.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Ident, ObjectName, ObjectNamePart, Query, VisitMut, VisitorMut};
use millstream_sql::statement::SelectStatement;
use millstream_types::{Error, Result};

use crate::catalog::parts;
use crate::session::{Session, names};

/// The query with the schema in front of the name of every relation of the catalog.
pub(super) fn qualified(session: &Session, select: &SelectStatement) -> Result<SelectStatement> {
    let mut select = select.clone();
    match select.query.visit(&mut Qualifier { session, with_queries: vec![] }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(select),
    }
}

struct Qualifier<'a> {
    session: &'a Session,
    /// Names of the WITH queries around, by depth.
    with_queries: Vec<Vec<String>>,
}

impl Qualifier<'_> {
    fn full_name(&self, name: &ObjectName) -> Result<Option<ObjectName>> {
        let parts = parts(name)?;
        let [single] = parts.as_slice() else { return Ok(None) };
        if self.with_queries.iter().flatten().any(|w| w == single) {
            return Ok(None);
        }
        let state = self.session.db.catalog().snapshot();
        let found = names::find(&state, &self.session.database, &self.session.settings.search_path(), &parts)?;
        Ok(found.map(|object| ObjectName(vec![part(&object.schema), part(&object.name)])))
    }
}

fn part(name: &str) -> ObjectNamePart {
    let needs_quotes = millstream_sql::quote_identifier(name) != name;
    ObjectNamePart::Identifier(if needs_quotes { Ident::with_quote('"', name) } else { Ident::new(name) })
}

impl VisitorMut for Qualifier<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        let names = query.with.iter().flat_map(|w| &w.cte_tables).map(|c| c.alias.name.value.clone());
        self.with_queries.push(names.collect());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.with_queries.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<Error> {
        match self.full_name(name) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(full)) => {
                *name = full;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

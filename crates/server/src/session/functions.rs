//! Functions whose value is the session's (`current_user`, `version()`, ...): replaced by their values before a statement is bound.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, SelectItem, SetExpr, Value, VisitMut, visit_expressions_mut,
};
use millstream_sql::Parsed;
use millstream_sql::statement::Statement;
use millstream_types::{Error, Result, SqlState};

use super::Session;
use crate::catalog::{DEFAULT_SCHEMA, parts};

const NAMES: [&str; 8] =
    ["version", "current_database", "current_catalog", "current_schema", "current_user", "session_user", "current_role", "current_setting"];

/// What `version()` says: drivers look for the PostgreSQL version in it.
fn version() -> String {
    format!("PostgreSQL 15.0 (Millstream {})", env!("CARGO_PKG_VERSION"))
}

/// The statement with values in place of the session's functions; `None` if there are none.
///
/// # Errors
/// 42704 for `current_setting` of an unknown setting.
pub(super) fn substitute(session: &Session, parsed: &Parsed) -> Result<Option<Parsed>> {
    let text = parsed.text.to_ascii_lowercase();
    if !NAMES.iter().any(|n| text.contains(n)) {
        return Ok(None);
    }
    let mut parsed = parsed.clone();
    match &mut parsed.statement {
        Statement::Query(s) => {
            keep_names(&mut s.query.body);
            replace(session, &mut s.query)?;
        }
        Statement::Insert(s) => replace(session, &mut s.insert)?,
        Statement::Update(s) => replace(session, s.as_mut())?,
        Statement::Delete(s) => replace(session, s.as_mut())?,
        _ => return Ok(None),
    }
    Ok(Some(parsed))
}

/// A column that is only such a function keeps the function's name.
fn keep_names(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(expr) = item
                    && let Some(name) = name(expr)
                {
                    *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('"', name) };
                }
            }
        }
        SetExpr::Query(query) => keep_names(&mut query.body),
        SetExpr::SetOperation { left, .. } => keep_names(left),
        _ => (),
    }
}

fn function_name(function: &Function) -> Option<&'static str> {
    let parts = parts(&function.name).ok()?;
    let name = match parts.as_slice() {
        [name] => name,
        [schema, name] if schema == "pg_catalog" => name,
        _ => return None,
    };
    NAMES.iter().find(|n| n.eq_ignore_ascii_case(name)).copied()
}

fn name(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::Function(function) => function_name(function),
        // Without parentheses these two are no keywords of the parser.
        Expr::Identifier(ident) if ident.quote_style.is_none() => {
            ["current_schema", "current_role"].into_iter().find(|n| ident.value.eq_ignore_ascii_case(n))
        }
        _ => None,
    }
}

fn replace<T: VisitMut>(session: &Session, node: &mut T) -> Result<()> {
    let done = visit_expressions_mut(node, |expr| {
        let Some(name) = name(expr) else { return ControlFlow::Continue(()) };
        match value(session, name, expr) {
            Ok(value) => {
                *expr = Expr::Value(Value::SingleQuotedString(value).into());
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    });
    match done {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn value(session: &Session, name: &str, expr: &Expr) -> Result<String> {
    Ok(match name {
        "version" => version(),
        "current_database" | "current_catalog" => session.database.clone(),
        "current_schema" => session.settings.search_path().into_iter().next().unwrap_or_else(|| DEFAULT_SCHEMA.into()),
        "current_setting" => {
            let setting = first_text(expr).ok_or_else(|| Error::unsupported("current_setting of something that is no literal"))?;
            session.settings.get(&setting)?
        }
        "current_user" | "session_user" | "current_role" => session.user.clone(),
        other => return Err(Error::new(SqlState::UNDEFINED_FUNCTION, format!("function {other}() does not exist"))),
    })
}

/// The first argument, if it is a string.
fn first_text(expr: &Expr) -> Option<String> {
    let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = expr else { return None };
    match list.args.first()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value))) => match &value.value {
            Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

//! Names of output columns without an alias, as PostgreSQL gives them: a column's own, a function's name, `?column?` for the rest.
//!
//! DataFusion wants different names in a select list where PostgreSQL does not care. So a second column of a name gets a mark behind it
//! on the way in ([`prepare`]), which is taken off the output again ([`apply`]).

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, Select, SelectItem, SetExpr, TableFactor, VisitMut, VisitorMut};
use millstream_types::Schema;

/// Renames the columns of a query's output. Only names change; DataFusion's own stay inside the plan.
pub(super) fn apply(query: &Query, schema: &mut Schema) {
    name_output(query, schema);
    unmark(schema);
}

fn name_output(query: &Query, schema: &mut Schema) {
    let Some(select) = first_select(&query.body) else { return };
    let wide = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    let wildcards = select.projection.iter().filter(|i| wide(i)).count();
    let Some(expanded) = (schema.len() + wildcards).checked_sub(select.projection.len()) else { return };
    if wildcards > 1 {
        return;
    }
    let mut place = 0;
    for item in &select.projection {
        if wide(item) {
            place += expanded;
            continue;
        }
        if let (SelectItem::UnnamedExpr(expr), Some(column)) = (item, schema.columns.get_mut(place)) {
            column.name = name(expr).unwrap_or_else(|| "?column?".to_owned());
        }
        place += 1;
    }
}

fn unmark(schema: &mut Schema) {
    for column in &mut schema.columns {
        if let Some(end) = column.name.find(MARK) {
            column.name.truncate(end);
        }
    }
}

/// Stands between a name and what makes it different; an invisible character that no name has.
const MARK: char = '\u{2063}';

/// The query with names that are different in each select list, and with PostgreSQL's names in the subqueries of FROM and WITH.
pub(super) fn prepare(query: &Query) -> Query {
    let mut query = query.clone();
    hide_behind_wildcards(&mut query.body);
    // The visitor never breaks.
    let _ = query.visit(&mut Names);
    query
}

struct Names;

impl VisitorMut for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for cte in query.with.iter_mut().flat_map(|w| &mut w.cte_tables) {
            name_columns(&mut cte.query.body);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived { subquery, .. } = factor {
            name_columns(&mut subquery.body);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let mut seen: Vec<(String, Option<String>)> = vec![];
        for (i, item) in select.projection.iter_mut().enumerate() {
            let Some(name) = item_name(item) else { continue };
            // `a.x, b.x` are different to DataFusion too.
            let qualified = match item {
                SelectItem::UnnamedExpr(expr @ Expr::CompoundIdentifier(_)) => Some(expr.to_string()),
                _ => None,
            };
            let clash = |(n, q): &(String, Option<String>)| *n == name && (q.is_none() || qualified.is_none() || *q == qualified);
            if seen.iter().any(clash) {
                alias(item, format!("{name}{MARK}{i}"));
            } else {
                seen.push((name, qualified));
            }
        }
        ControlFlow::Continue(())
    }
}

fn item_name(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(expr) => Some(name(expr).unwrap_or_else(|| "?column?".to_owned())),
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
        _ => None,
    }
}

fn alias(item: &mut SelectItem, name: String) {
    if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('"', name) };
    }
}

/// What FROM and WITH make columns of must have the name by which it is called.
fn name_columns(body: &mut SetExpr) {
    let Some(select) = first_select_mut(body) else { return };
    let names: Vec<Option<String>> = select.projection.iter().map(item_name).collect();
    for (i, item) in select.projection.iter_mut().enumerate() {
        let is_column = matches!(item, SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)));
        if let (SelectItem::UnnamedExpr(_), false, Some(name)) = (&*item, is_column, &names[i])
            && names.iter().filter(|n| n.as_ref() == Some(name)).count() == 1
        {
            alias(item, name.clone());
        }
    }
}

/// `SELECT *, id`: the second `id` is another column.
fn hide_behind_wildcards(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            let wide = select.projection.iter().any(|i| matches!(i, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
            let is_column = |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)));
            for (i, item) in select.projection.iter_mut().enumerate().filter(|(_, item)| wide && is_column(item)) {
                if let Some(name) = item_name(item) {
                    alias(item, format!("{name}{MARK}{i}"));
                }
            }
        }
        SetExpr::Query(query) => hide_behind_wildcards(&mut query.body),
        SetExpr::SetOperation { left, right, .. } => {
            hide_behind_wildcards(left);
            hide_behind_wildcards(right);
        }
        _ => (),
    }
}

fn first_select_mut(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => first_select_mut(&mut query.body),
        SetExpr::SetOperation { left, .. } => first_select_mut(left),
        _ => None,
    }
}

/// The SELECT that names the columns: the first one of a set operation.
fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => first_select(&query.body),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}

/// `FigureColname` of PostgreSQL's parser.
fn name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(ident.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|p| p.value.clone()),
        Expr::Function(function) => function.name.0.last().and_then(|p| p.as_ident()).map(|i| i.value.to_lowercase()),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => name(inner),
        Expr::Cast { expr, data_type, .. } => name(expr).or_else(|| millstream_sql::sql_type(data_type).ok().map(|t| short_type(&t))),
        Expr::Case { else_result, .. } => else_result.as_deref().and_then(name).or_else(|| Some("case".into())),
        Expr::Exists { .. } => Some("exists".into()),
        Expr::Subquery(query) => match first_select(&query.body)?.projection.first()? {
            SelectItem::UnnamedExpr(expr) => name(expr),
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
            _ => None,
        },
        Expr::Extract { .. } => Some("extract".into()),
        Expr::Position { .. } => Some("position".into()),
        Expr::Substring { .. } => Some("substring".into()),
        Expr::Trim { .. } => Some("btrim".into()),
        Expr::Ceil { .. } => Some("ceil".into()),
        Expr::Floor { .. } => Some("floor".into()),
        Expr::Array(_) => Some("array".into()),
        _ => None,
    }
}

/// PostgreSQL's internal type names, which is what a cast is called by.
fn short_type(sql_type: &millstream_types::SqlType) -> String {
    use millstream_types::SqlType as T;
    match sql_type {
        T::Boolean => "bool".into(),
        T::SmallInt => "int2".into(),
        T::Integer => "int4".into(),
        T::BigInt => "int8".into(),
        T::Real => "float4".into(),
        T::Double => "float8".into(),
        T::Numeric { .. } => "numeric".into(),
        T::Time => "time".into(),
        T::Timestamp => "timestamp".into(),
        T::TimestampTz => "timestamptz".into(),
        other => other.to_string(),
    }
}

//! Names of output columns without an alias, as PostgreSQL gives them: a column's own, a function's name, `?column?` for the rest.

use datafusion::sql::sqlparser::ast::{Expr, Query, Select, SelectItem, SetExpr};
use millstream_types::Schema;

/// Renames the columns of a query's output. Only names change; DataFusion's own stay inside the plan.
pub(super) fn apply(query: &Query, schema: &mut Schema) {
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

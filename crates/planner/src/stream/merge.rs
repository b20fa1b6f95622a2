//! Two adjacent Calcs as one.

use millstream_graph::{CalcSpec, ScalarExpr};

/// `outer` over the output of `inner` as one Calc over the input of `inner`. `None` if both filter (the condition of `outer` must not see
/// rows that `inner` drops), or if something that costs would be computed twice.
pub(super) fn merge(outer: &CalcSpec, inner: &CalcSpec) -> Option<CalcSpec> {
    if outer.filter.is_some() && inner.filter.is_some() {
        return None;
    }
    let mut uses = vec![0_usize; inner.projection.len()];
    for expr in outer.projection.iter().chain(&outer.filter) {
        expr.visit_columns(&mut |i| uses[i] += 1);
    }
    let free = |e: &ScalarExpr| matches!(e, ScalarExpr::Column { .. } | ScalarExpr::Literal(_));
    if inner.projection.iter().zip(&uses).any(|(e, n)| *n > 1 && !free(e)) {
        return None;
    }
    let projection = outer.projection.iter().map(|e| substitute(e, &inner.projection)).collect();
    let filter = outer.filter.as_ref().map(|f| substitute(f, &inner.projection));
    Some(CalcSpec { filter: filter.or_else(|| inner.filter.clone()), projection })
}

/// The expression with columns replaced by what they are.
fn substitute(expr: &ScalarExpr, columns: &[ScalarExpr]) -> ScalarExpr {
    let one = |e: &ScalarExpr| substitute(e, columns);
    let boxed = |e: &ScalarExpr| Box::new(substitute(e, columns));
    match expr {
        ScalarExpr::Column { index, .. } => columns[*index].clone(),
        ScalarExpr::Literal(_) => expr.clone(),
        ScalarExpr::Binary { op, left, right } => ScalarExpr::Binary { op: *op, left: boxed(left), right: boxed(right) },
        ScalarExpr::Not(e) => ScalarExpr::Not(boxed(e)),
        ScalarExpr::IsNull(e) => ScalarExpr::IsNull(boxed(e)),
        ScalarExpr::Case { branches, otherwise } => ScalarExpr::Case {
            branches: branches.iter().map(|(c, r)| (one(c), one(r))).collect(),
            otherwise: otherwise.as_deref().map(boxed),
        },
        ScalarExpr::Cast { expr, to } => ScalarExpr::Cast { expr: boxed(expr), to: to.clone() },
        ScalarExpr::InList { expr, list, negated } => {
            ScalarExpr::InList { expr: boxed(expr), list: list.iter().map(one).collect(), negated: *negated }
        }
        ScalarExpr::Like { expr, pattern, negated, case_insensitive } => {
            ScalarExpr::Like { expr: boxed(expr), pattern: boxed(pattern), negated: *negated, case_insensitive: *case_insensitive }
        }
        ScalarExpr::Function { name, args, return_type } => {
            ScalarExpr::Function { name: name.clone(), args: args.iter().map(one).collect(), return_type: return_type.clone() }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use millstream_types::{Datum, SqlType};

    use super::*;

    fn add(index: usize, n: i32) -> ScalarExpr {
        let args = vec![ScalarExpr::column(index, SqlType::Integer), ScalarExpr::Literal(Datum::Integer(n))];
        ScalarExpr::Function { name: "ms_add".into(), args, return_type: SqlType::Integer }
    }

    #[test]
    fn the_inner_filter_stays_and_work_is_not_doubled() {
        let positive = ScalarExpr::Not(Box::new(ScalarExpr::IsNull(Box::new(ScalarExpr::column(0, SqlType::Integer)))));
        let inner = CalcSpec { filter: Some(positive.clone()), projection: vec![add(3, 1), ScalarExpr::column(2, SqlType::Integer)] };
        let outer = CalcSpec { filter: None, projection: vec![add(0, 2), add(1, 3), add(1, 4)] };
        let merged = merge(&outer, &inner).unwrap();
        let shown: Vec<String> = merged.projection.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["ms_add(ms_add($3, 1), 2)", "ms_add($2, 3)", "ms_add($2, 4)"]);
        assert_eq!(merged.filter, Some(positive.clone()));

        assert_eq!(merge(&CalcSpec { filter: None, projection: vec![add(0, 1), add(0, 2)] }, &inner), None);
        let filtering = CalcSpec { filter: Some(positive), projection: vec![add(1, 1)] };
        assert_eq!(merge(&filtering, &inner), None);
        let columns =
            CalcSpec { filter: None, projection: vec![ScalarExpr::column(5, SqlType::Integer), ScalarExpr::column(2, SqlType::Integer)] };
        let merged = merge(&filtering, &columns).unwrap();
        assert_eq!(
            (merged.filter.unwrap().to_string(), merged.projection[0].to_string()),
            ("$5 IS NOT NULL".into(), "ms_add($2, 1)".into())
        );
    }
}

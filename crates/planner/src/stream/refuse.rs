//! What a streaming query cannot do yet, found in its text, so that the refusal has a position.

use std::ops::ControlFlow;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan};
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Function, FunctionArgumentClause, FunctionArguments, GroupByExpr, LimitClause, Query, Select, SetExpr, SetOperator,
    SetQuantifier, Spanned, TableFactor, TableWithJoins, Visit, Visitor,
};
use millstream_functions::{from_datafusion, is_time_dependent, is_volatile, registry};
use millstream_sql::position_of;
use millstream_sql::statement::SelectStatement;
use millstream_types::{Error, Result};

use super::aggregate;

/// Refuses the first thing that is not there.
///
/// # Errors
/// 0A000 with the construct's name and position.
pub(super) fn check(query: &SelectStatement, text: &str) -> Result<()> {
    if let Some(emit) = &query.emit {
        return Err(refusal(emit.to_string().trim().to_owned()));
    }
    match query.query.visit(&mut Refusals { text }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Refuses functions that depend on when they run wherever they came from, views included: later they are folded to a constant.
///
/// # Errors
/// 0A000 with the function's name.
pub(super) fn check_plan(plan: &LogicalPlan) -> Result<()> {
    let mut found = None;
    let visited = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|e| {
                if let DfExpr::ScalarFunction(call) = e
                    && (is_time_dependent(call.name()) || is_volatile(call.name()))
                {
                    found.get_or_insert_with(|| call.name().to_owned());
                    return Ok(TreeNodeRecursion::Stop);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    visited.map_err(from_datafusion)?;
    found.map_or(Ok(()), |name| Err(refusal(format!("{name}()"))))
}

fn refusal(what: String) -> Error {
    Error::unsupported(format!("{what} in a streaming query")).with_hint("an ad hoc SELECT can do it; streams cannot yet")
}

struct Refusals<'a> {
    text: &'a str,
}

impl Refusals<'_> {
    fn at(&self, what: &str, node: &impl Spanned) -> ControlFlow<Error> {
        let error = refusal(what.to_owned());
        let start = node.span().start;
        ControlFlow::Break(if start.line == 0 { error } else { error.with_position(position_of(self.text, start)) })
    }

    fn select(&self, select: &Select) -> ControlFlow<Error> {
        for table in &select.from {
            self.from(table)?;
        }
        if select.from.len() > 1 {
            return self.at("JOIN", &select.from[1]);
        }
        if let Some(Distinct::On(on)) = &select.distinct {
            return on.first().map_or_else(|| self.at("DISTINCT ON", select), |first| self.at("DISTINCT ON", first));
        }
        if select.top.is_some() {
            return self.at("TOP", select);
        }
        if let GroupByExpr::Expressions(keys, modifiers) = &select.group_by {
            if let (Some(first), false) = (keys.first(), modifiers.is_empty()) {
                return self.at("GROUP BY with modifiers", first);
            }
            for key in keys {
                match key {
                    Expr::GroupingSets(_) => return self.at("GROUPING SETS", key),
                    Expr::Cube(_) => return self.at("CUBE", key),
                    Expr::Rollup(_) => return self.at("ROLLUP", key),
                    _ => (),
                }
            }
        }
        match &select.qualify {
            Some(expr) => self.at("QUALIFY", expr),
            None => ControlFlow::Continue(()),
        }
    }

    fn from(&self, table: &TableWithJoins) -> ControlFlow<Error> {
        match table.joins.first() {
            Some(join) => self.at("JOIN", &join.relation),
            None => ControlFlow::Continue(()),
        }
    }

    fn function(&self, f: &Function, expr: &Expr) -> ControlFlow<Error> {
        let name = f.name.to_string().to_lowercase();
        if f.over.is_some() {
            return self.at("OVER", expr);
        }
        if !f.within_group.is_empty() {
            return self.at("WITHIN GROUP", expr);
        }
        if is_time_dependent(&name) || is_volatile(&name) {
            return self.at(&format!("{name}()"), expr);
        }
        if let Some(aggregate) = registry().aggregate(&name)
            && !aggregate::NAMES.contains(&aggregate.name())
        {
            return self.at(&format!("aggregate {name}()"), expr);
        }
        if let FunctionArguments::List(list) = &f.args
            && list.clauses.iter().any(|c| matches!(c, FunctionArgumentClause::OrderBy(_)))
        {
            return self.at(&format!("ORDER BY inside {name}()"), expr);
        }
        ControlFlow::Continue(())
    }

    fn body(&self, body: &SetExpr) -> ControlFlow<Error> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::SetOperation { op, set_quantifier, right, left } => {
                match (op, set_quantifier) {
                    (SetOperator::Union, SetQuantifier::All | SetQuantifier::None | SetQuantifier::Distinct) => (),
                    (SetOperator::Union, _) => return self.at("UNION BY NAME", right.as_ref()),
                    (op, _) => return self.at(&op.to_string(), right.as_ref()),
                }
                self.body(left)?;
                self.body(right)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Visitor for Refusals<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        if let Some(with) = query.with.as_ref().filter(|w| w.recursive) {
            return self.at("WITH RECURSIVE", with);
        }
        if let Some(order) = &query.order_by {
            return self.at("ORDER BY", order);
        }
        if let Some(limit) = &query.limit_clause {
            let only_offset = matches!(limit, LimitClause::LimitOffset { limit: None, offset: Some(_), .. });
            return self.at(if only_offset { "OFFSET" } else { "LIMIT" }, limit);
        }
        if let Some(fetch) = &query.fetch {
            return self.at("FETCH", fetch);
        }
        self.body(&query.body)
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        match factor {
            TableFactor::Table { args: Some(_), name, .. } => self.at(&format!("table function {name}"), factor),
            TableFactor::Table { version: Some(_), .. } => self.at("FOR SYSTEM_TIME AS OF", factor),
            TableFactor::Table { sample: Some(_), .. } => self.at("TABLESAMPLE", factor),
            TableFactor::Table { .. } => ControlFlow::Continue(()),
            TableFactor::Derived { lateral: true, .. } => self.at("LATERAL", factor),
            TableFactor::Derived { .. } => ControlFlow::Continue(()),
            TableFactor::NestedJoin { .. } => self.at("JOIN", factor),
            TableFactor::UNNEST { .. } => self.at("UNNEST", factor),
            TableFactor::MatchRecognize { .. } => self.at("MATCH_RECOGNIZE", factor),
            TableFactor::Pivot { .. } => self.at("PIVOT", factor),
            TableFactor::Unpivot { .. } => self.at("UNPIVOT", factor),
            _ => self.at("this FROM item", factor),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        match expr {
            Expr::Subquery(_) => self.at("a scalar subquery", expr),
            Expr::Exists { .. } => self.at("EXISTS", expr),
            Expr::InSubquery { .. } => self.at("IN (subquery)", expr),
            Expr::AtTimeZone { .. } => self.at("AT TIME ZONE", expr),
            Expr::AnyOp { .. } => self.at("ANY", expr),
            Expr::AllOp { .. } => self.at("ALL", expr),
            Expr::Function(f) => self.function(f, expr),
            _ => ControlFlow::Continue(()),
        }
    }
}

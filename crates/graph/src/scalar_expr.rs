//! Expressions over the columns of one batch: a small closed language of our own, so that a stored job never depends on a library's
//! serialization. The runtime compiles it to a vectorised evaluator once per task.

use std::fmt;

use millstream_types::{Datum, SqlType};
use serde::{Deserialize, Serialize};

/// Comparison and boolean operators. Arithmetic is a [`ScalarExpr::Function`], because PostgreSQL's is checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum BinaryOperator {
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
    /// `AND`, three-valued.
    And,
    /// `OR`, three-valued.
    Or,
    /// `IS DISTINCT FROM`
    IsDistinctFrom,
    /// `IS NOT DISTINCT FROM`
    IsNotDistinctFrom,
}

/// One expression. Operands of comparisons have equal types: the planner puts the casts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ScalarExpr {
    /// Column `index` of the input.
    Column {
        /// 0-based.
        index: usize,
        /// Its type.
        sql_type: SqlType,
    },
    /// A constant.
    Literal(Datum),
    /// `left op right`.
    Binary {
        /// The operator.
        op: BinaryOperator,
        /// Left operand.
        left: Box<ScalarExpr>,
        /// Right operand.
        right: Box<ScalarExpr>,
    },
    /// `NOT expr`, three-valued.
    Not(Box<ScalarExpr>),
    /// `expr IS NULL`; never NULL itself. IS NOT NULL is `Not(IsNull)`.
    IsNull(Box<ScalarExpr>),
    /// `CASE WHEN .. THEN .. ELSE .. END`; branches are evaluated only for the rows that reach them.
    Case {
        /// Condition and result, in order.
        branches: Vec<(ScalarExpr, ScalarExpr)>,
        /// Without it: NULL.
        otherwise: Option<Box<ScalarExpr>>,
    },
    /// PostgreSQL's cast.
    Cast {
        /// What.
        expr: Box<ScalarExpr>,
        /// To which type.
        to: SqlType,
    },
    /// `expr [NOT] IN (list)`.
    InList {
        /// What.
        expr: Box<ScalarExpr>,
        /// The candidates.
        list: Vec<ScalarExpr>,
        /// NOT IN.
        negated: bool,
    },
    /// `expr [NOT] LIKE pattern`; `%` and `_` are wild, backslash escapes.
    Like {
        /// What.
        expr: Box<ScalarExpr>,
        /// Pattern.
        pattern: Box<ScalarExpr>,
        /// NOT LIKE.
        negated: bool,
        /// ILIKE.
        case_insensitive: bool,
    },
    /// A function of the registry in `crates/functions`, by its stable name.
    Function {
        /// Name in the registry.
        name: String,
        /// Arguments of exactly the types that the function takes.
        args: Vec<ScalarExpr>,
        /// What it returns for them.
        return_type: SqlType,
    },
}

impl ScalarExpr {
    /// Column `index` of type `sql_type`.
    pub fn column(index: usize, sql_type: SqlType) -> Self {
        ScalarExpr::Column { index, sql_type }
    }

    /// The type of its value.
    pub fn sql_type(&self) -> SqlType {
        match self {
            ScalarExpr::Column { sql_type, .. } => sql_type.clone(),
            ScalarExpr::Literal(datum) => datum.sql_type(),
            ScalarExpr::Binary { .. }
            | ScalarExpr::Not(_)
            | ScalarExpr::IsNull(_)
            | ScalarExpr::InList { .. }
            | ScalarExpr::Like { .. } => SqlType::Boolean,
            ScalarExpr::Case { branches, otherwise } => {
                let results = branches.iter().map(|(_, r)| r).chain(otherwise.as_deref());
                results.map(ScalarExpr::sql_type).find(|t| *t != SqlType::Unknown).unwrap_or(SqlType::Unknown)
            }
            ScalarExpr::Cast { to, .. } => to.clone(),
            ScalarExpr::Function { return_type, .. } => return_type.clone(),
        }
    }

    /// Its direct parts.
    pub fn children(&self) -> Vec<&ScalarExpr> {
        match self {
            ScalarExpr::Column { .. } | ScalarExpr::Literal(_) => vec![],
            ScalarExpr::Binary { left, right, .. } => vec![left, right],
            ScalarExpr::Not(e) | ScalarExpr::IsNull(e) | ScalarExpr::Cast { expr: e, .. } => vec![e],
            ScalarExpr::Case { branches, otherwise } => branches.iter().flat_map(|(c, r)| [c, r]).chain(otherwise.as_deref()).collect(),
            ScalarExpr::InList { expr, list, .. } => std::iter::once(expr.as_ref()).chain(list).collect(),
            ScalarExpr::Like { expr, pattern, .. } => vec![expr, pattern],
            ScalarExpr::Function { args, .. } => args.iter().collect(),
        }
    }

    /// Calls `visit` with the index of every column it reads; an index may come more than once.
    pub fn visit_columns(&self, visit: &mut dyn FnMut(usize)) {
        if let ScalarExpr::Column { index, .. } = self {
            visit(*index);
        }
        for child in self.children() {
            child.visit_columns(visit);
        }
    }
}

impl fmt::Display for BinaryOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOperator::Eq => "=",
            BinaryOperator::NotEq => "<>",
            BinaryOperator::Lt => "<",
            BinaryOperator::LtEq => "<=",
            BinaryOperator::Gt => ">",
            BinaryOperator::GtEq => ">=",
            BinaryOperator::And => "AND",
            BinaryOperator::Or => "OR",
            BinaryOperator::IsDistinctFrom => "IS DISTINCT FROM",
            BinaryOperator::IsNotDistinctFrom => "IS NOT DISTINCT FROM",
        })
    }
}

fn list(f: &mut fmt::Formatter<'_>, items: &[ScalarExpr]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
    }
    Ok(())
}

impl fmt::Display for ScalarExpr {
    /// Columns are `$0`, `$1`, ...; everything else is SQL-like.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarExpr::Column { index, .. } => write!(f, "${index}"),
            ScalarExpr::Literal(datum) => write!(f, "{datum}"),
            ScalarExpr::Binary { op, left, right } => write!(f, "({left} {op} {right})"),
            ScalarExpr::Not(e) => match e.as_ref() {
                ScalarExpr::IsNull(inner) => write!(f, "{inner} IS NOT NULL"),
                other => write!(f, "NOT {other}"),
            },
            ScalarExpr::IsNull(e) => write!(f, "{e} IS NULL"),
            ScalarExpr::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                for (condition, result) in branches {
                    write!(f, " WHEN {condition} THEN {result}")?;
                }
                if let Some(e) = otherwise {
                    write!(f, " ELSE {e}")?;
                }
                f.write_str(" END")
            }
            ScalarExpr::Cast { expr, to } => write!(f, "CAST({expr} AS {to})"),
            ScalarExpr::InList { expr, list: items, negated } => {
                write!(f, "{expr}{} IN (", if *negated { " NOT" } else { "" })?;
                list(f, items)?;
                f.write_str(")")
            }
            ScalarExpr::Like { expr, pattern, negated, case_insensitive } => {
                let word = if *case_insensitive { "ILIKE" } else { "LIKE" };
                write!(f, "{expr}{} {word} {pattern}", if *negated { " NOT" } else { "" })
            }
            ScalarExpr::Function { name, args, .. } => {
                write!(f, "{name}(")?;
                list(f, args)?;
                f.write_str(")")
            }
        }
    }
}

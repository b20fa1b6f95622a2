//! Functions in FROM: `generate_series`. Their arguments are constants.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::DataType;
use datafusion::catalog::TableFunctionArgs;
use datafusion::common::{DFSchema, Result as DfResult};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionState;
use datafusion::functions_table::all_default_table_functions;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, TableSource};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use millstream_functions::external;
use millstream_types::{Error, SqlState};

/// The functions want a session, of which they only use the settings.
static SESSION: LazyLock<SessionState> = LazyLock::new(|| SessionStateBuilder::new().build());

/// The rows of a function.
pub(super) fn source(name: &str, args: Vec<Expr>) -> DfResult<Arc<dyn TableSource>> {
    let function = all_default_table_functions().into_iter().find(|f| f.name() == name);
    let function = function.ok_or_else(|| external(Error::new(SqlState::UNDEFINED_FUNCTION, format!("function {name} does not exist"))))?;
    let simplifier = ExprSimplifier::new(SimplifyContext::builder().build());
    let schema = DFSchema::empty();
    let args = args.into_iter().map(|a| simplifier.coerce(a, &schema).and_then(|a| simplifier.simplify(a)).map(widened));
    let args = args.collect::<DfResult<Vec<_>>>()?;
    Ok(provider_as_source(function.create_table_provider_with_args(TableFunctionArgs::new(&args, &*SESSION))?))
}

/// Series of integers count in bigint.
fn widened(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(value, metadata) if value.data_type().is_integer() => match value.cast_to(&DataType::Int64) {
            Ok(wide) => Expr::Literal(wide, metadata),
            Err(_) => Expr::Literal(value, metadata),
        },
        other => other,
    }
}

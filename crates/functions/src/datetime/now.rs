//! The time of the statement. Stable, not volatile: a batch statement sees one time, which the simplifier fills in at its start. Streams
//! refuse these functions (see `registry::is_time_dependent`), because their value belongs to no row.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use millstream_types::{Clock, SqlType, SystemClock};

use crate::calendar::DAY;

/// `now()` and its relatives.
pub(crate) fn all() -> Vec<Arc<ScalarUDF>> {
    let zoned = ["now", "current_timestamp", "transaction_timestamp", "statement_timestamp"].map(|n| (n, SqlType::TimestampTz));
    let others = [("localtimestamp", SqlType::Timestamp), ("current_date", SqlType::Date), ("current_time", SqlType::Time)];
    let udf =
        |(name, sql_type)| Arc::new(ScalarUDF::new_from_impl(Now { name, sql_type, signature: Signature::nullary(Volatility::Stable) }));
    zoned.into_iter().chain(others).map(udf).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Now {
    name: &'static str,
    sql_type: SqlType,
    signature: Signature,
}

impl Now {
    fn value(&self, micros: i64) -> ScalarValue {
        match self.sql_type {
            SqlType::TimestampTz => ScalarValue::TimestampMicrosecond(Some(micros), Some("UTC".into())),
            SqlType::Timestamp => ScalarValue::TimestampMicrosecond(Some(micros), None),
            SqlType::Date => ScalarValue::Date32(i32::try_from(micros.div_euclid(DAY)).ok()),
            _ => ScalarValue::Time64Microsecond(Some(micros.rem_euclid(DAY))),
        }
    }
}

impl ScalarUDFImpl for Now {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.sql_type.to_arrow())
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> DfResult<ExprSimplifyResult> {
        Ok(match info.query_execution_start_time() {
            Some(start) => ExprSimplifyResult::Simplified(Expr::Literal(self.value(start.timestamp_micros()), None)),
            None => ExprSimplifyResult::Original(args),
        })
    }

    /// Only for plans that nobody simplified.
    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.value(SystemClock.unix_micros())))
    }
}

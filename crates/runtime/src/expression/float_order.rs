//! PostgreSQL's equality of floats: -0 = 0, NaN = NaN, NaN above everything. Arrow's kernels and row encoding compare by the total order
//! of IEEE 754, which agrees once every zero is +0 and every NaN is the one positive quiet NaN.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::DataType;
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use millstream_functions::external;
use millstream_state::key_codec::normalize;
use millstream_types::Error;

/// [`normalize`] as a function of one argument.
pub(super) fn float_order() -> Arc<ScalarUDF> {
    static UDF: LazyLock<Arc<ScalarUDF>> =
        LazyLock::new(|| Arc::new(ScalarUDF::new_from_impl(FloatOrder { signature: Signature::any(1, Volatility::Immutable) })));
    Arc::clone(&UDF)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct FloatOrder {
    signature: Signature,
}

impl ScalarUDFImpl for FloatOrder {
    fn name(&self) -> &str {
        "ms_float_order"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        types.first().cloned().ok_or_else(|| external(Error::internal("an operand is missing")))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        match args.args.first() {
            Some(ColumnarValue::Array(array)) => Ok(ColumnarValue::Array(normalize(array))),
            Some(ColumnarValue::Scalar(value)) => {
                let array = normalize(&value.to_array()?);
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?))
            }
            None => Err(external(Error::internal("an operand is missing"))),
        }
    }
}

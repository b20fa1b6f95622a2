//! An aggregate of DataFusion whose result is cast to PostgreSQL's type; everything else is DataFusion's.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature};
use millstream_types::SqlType;

use crate::cast::cast_array;
use crate::error::external;

/// `inner` with a result of type text.
pub(super) fn text(inner: Arc<AggregateUDF>) -> AggregateUDF {
    AggregateUDF::new_from_impl(Text { inner })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Text {
    inner: Arc<AggregateUDF>,
}

impl Text {
    fn inner_field(&self, field: &FieldRef) -> DfResult<FieldRef> {
        let data_type = self.inner.return_type(&[DataType::Utf8, DataType::Utf8])?;
        Ok(Arc::new(Field::new(field.name(), data_type, true)))
    }
}

impl AggregateUDFImpl for Text {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, _types: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn coerce_types(&self, types: &[DataType]) -> DfResult<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> DfResult<Vec<FieldRef>> {
        let return_field = self.inner_field(&args.return_field)?;
        self.inner.state_fields(StateFieldsArgs { return_field, ..args })
    }

    fn accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn Accumulator>> {
        let return_field = self.inner_field(&args.return_field)?;
        Ok(Box::new(TextOf(self.inner.accumulator(AccumulatorArgs { return_field, ..args })?)))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> DfResult<Box<dyn GroupsAccumulator>> {
        let return_field = self.inner_field(&args.return_field)?;
        Ok(Box::new(TextsOf(self.inner.create_groups_accumulator(AccumulatorArgs { return_field, ..args })?)))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn with_beneficial_ordering(self: Arc<Self>, beneficial: bool) -> DfResult<Option<Arc<dyn AggregateUDFImpl>>> {
        let inner = self.inner.as_ref().clone().with_beneficial_ordering(beneficial)?;
        Ok(inner.map(|inner| Arc::new(Text { inner: Arc::new(inner) }) as Arc<dyn AggregateUDFImpl>))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.inner.reverse_udf() {
            ReversedUDAF::Reversed(inner) => ReversedUDAF::Reversed(Arc::new(text(inner))),
            other => other,
        }
    }
}

#[derive(Debug)]
struct TextOf(Box<dyn Accumulator>);

impl Accumulator for TextOf {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        self.0.update_batch(values)
    }
    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        self.0.evaluate()?.cast_to(&DataType::Utf8)
    }
    fn size(&self) -> usize {
        self.0.size()
    }
    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        self.0.state()
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> DfResult<()> {
        self.0.merge_batch(states)
    }
    fn retract_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        self.0.retract_batch(values)
    }
    fn supports_retract_batch(&self) -> bool {
        self.0.supports_retract_batch()
    }
}

struct TextsOf(Box<dyn GroupsAccumulator>);

impl GroupsAccumulator for TextsOf {
    fn update_batch(&mut self, values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, total: usize) -> DfResult<()> {
        self.0.update_batch(values, groups, filter, total)
    }
    fn evaluate(&mut self, emit_to: EmitTo) -> DfResult<ArrayRef> {
        cast_array(&self.0.evaluate(emit_to)?, &SqlType::Text).map_err(external)
    }
    fn state(&mut self, emit_to: EmitTo) -> DfResult<Vec<ArrayRef>> {
        self.0.state(emit_to)
    }
    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> DfResult<()> {
        self.0.merge_batch(values, groups, total)
    }
    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> DfResult<Vec<ArrayRef>> {
        self.0.convert_to_state(values, filter)
    }
    fn size(&self) -> usize {
        self.0.size()
    }
}

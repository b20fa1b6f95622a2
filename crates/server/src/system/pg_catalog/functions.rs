//! Functions of catalog queries that need our catalog.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, StringArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, SimpleScalarUDF, TypeSignature, Volatility, create_udf,
};
use datafusion::prelude::SessionContext;
use millstream_sql::catalog::ObjectKind;

use super::{constraints, oids};
use crate::catalog::{Catalog, CatalogState};

/// Adds them to a context.
pub(super) fn register(context: &SessionContext, catalog: &Arc<Catalog>) {
    let text_of = |name: &str, of: fn(&CatalogState, i32) -> Option<String>| {
        let catalog = Arc::clone(catalog);
        context.register_udf(by_oid(name, move |oid| of(&catalog.snapshot(), oid)));
    };
    text_of("pg_get_userbyid", |state, oid| {
        Some(oids::role_of(&oids::owners(state), oid).map_or_else(|| format!("unknown (OID={oid})"), str::to_owned))
    });
    text_of("pg_get_indexdef", index_definition);
    text_of("pg_get_constraintdef", |state, oid| {
        let table = oids::table_of(oid).and_then(|id| state.object(id))?;
        constraints::key_list(table).map(|key| format!("PRIMARY KEY {key}"))
    });
    text_of("pg_get_viewdef", |state, oid| {
        let object = oids::relation_of(oid).and_then(|id| state.object(id))?;
        match &object.kind {
            ObjectKind::View(view) => Some(format!(" {};", view.query)),
            ObjectKind::MaterializedView(view) => Some(format!(" {};", view.query)),
            _ => None,
        }
    });
    // There are no comments, and no functions of users whose signature could be asked for.
    for name in ["obj_description", "shobj_description", "col_description", "pg_get_function_result", "pg_get_function_arguments"] {
        context.register_udf(by_oid(name, |_| None));
    }
    context.register_udf(expression_text());
    context.register_udf(visible("pg_function_is_visible", DataType::Int32));
    context.register_udf(visible("pg_type_is_visible", DataType::Int32));
}

fn index_definition(state: &CatalogState, oid: i32) -> Option<String> {
    let table = oids::table_of(oid).and_then(|id| state.object(id))?;
    let name = millstream_sql::quote_identifier(&format!("{}_pkey", table.name));
    let key = constraints::key_list(table)?;
    Some(format!("CREATE UNIQUE INDEX {name} ON {} USING btree {key}", table.qualified_name()))
}

/// A function of an oid, and of arguments that change nothing.
fn by_oid(name: &str, of: impl Fn(i32) -> Option<String> + Send + Sync + 'static) -> ScalarUDF {
    let function = OidFunction { name: name.to_owned(), signature: Signature::variadic_any(Volatility::Stable), of: Arc::new(of) };
    ScalarUDF::new_from_impl(function)
}

struct OidFunction {
    name: String,
    signature: Signature,
    of: Arc<dyn Fn(i32) -> Option<String> + Send + Sync>,
}

impl fmt::Debug for OidFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for OidFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OidFunction {}

impl Hash for OidFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for OidFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let first = arrays.first().map_or_else(|| Ok(new_null_array(&DataType::Int32, args.number_rows)), |a| cast(a, &DataType::Int32))?;
        let texts: StringArray = first.as_primitive::<Int32Type>().iter().map(|oid| oid.and_then(|o| (self.of)(o))).collect();
        Ok(ColumnarValue::Array(Arc::new(texts)))
    }
}

/// `pg_get_expr`: expressions are kept as text.
fn expression_text() -> ScalarUDF {
    let run = |arguments: &[ColumnarValue]| {
        arguments.first().cloned().ok_or_else(|| DataFusionError::Plan("pg_get_expr needs an expression".into()))
    };
    let signature = Signature::one_of(
        vec![
            TypeSignature::Exact(vec![DataType::Utf8, DataType::Int32]),
            TypeSignature::Exact(vec![DataType::Utf8, DataType::Int32, DataType::Boolean]),
        ],
        Volatility::Stable,
    );
    ScalarUDF::new_from_impl(SimpleScalarUDF::new_with_signature("pg_get_expr", signature, DataType::Utf8, Arc::new(run)))
}

/// Everything that the catalog shows is visible.
fn visible(name: &str, argument: DataType) -> ScalarUDF {
    let run = |arguments: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(arguments)?;
        let flags: BooleanArray =
            arrays.iter().take(1).flat_map(|a| a.as_primitive::<Int32Type>().iter()).map(|o| o.map(|_| true)).collect();
        Ok(ColumnarValue::Array(Arc::new(flags) as ArrayRef))
    };
    create_udf(name, vec![argument], DataType::Boolean, Volatility::Stable, Arc::new(run))
}

//! The catalog and the functions as DataFusion's SQL planner asks for them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DataFusionError, Result as DfResult, TableReference};
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner, TypePlanner};
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, LogicalPlan, LogicalPlanBuilder, ScalarUDF, TableSource, WindowUDF};
use datafusion::sql::sqlparser::ast::DataType as SqlDataType;
use millstream_functions::{external, registry};
use millstream_types::{Error, Result, SqlState};

use super::expr_planner::PostgresPlanner;
use crate::catalog::{PlannerCatalog, RelationKind, RelationSource};

/// Views inside views, at most.
const MAX_VIEW_DEPTH: usize = 32;

/// One statement's view of catalog and functions.
pub(crate) struct Context {
    catalog: Arc<dyn PlannerCatalog>,
    options: ConfigOptions,
    planners: Vec<Arc<dyn ExprPlanner>>,
    /// The first error of the catalog: DataFusion would wrap it in text of its own.
    error: RefCell<Option<Error>>,
    depth: Cell<usize>,
    /// A relation whose hidden columns can be named: the target of UPDATE and DELETE.
    with_hidden: Option<millstream_types::ObjectId>,
    sources: RefCell<HashMap<String, Arc<dyn TableSource>>>,
}

impl Context {
    pub(crate) fn new(catalog: Arc<dyn PlannerCatalog>) -> Self {
        Context {
            catalog,
            options: ConfigOptions::default(),
            planners: vec![Arc::new(PostgresPlanner)],
            error: RefCell::new(None),
            depth: Cell::new(0),
            with_hidden: None,
            sources: RefCell::default(),
        }
    }

    /// As [`Context::new`], for a statement that changes `target`.
    pub(crate) fn for_dml(catalog: Arc<dyn PlannerCatalog>, target: millstream_types::ObjectId) -> Self {
        Context { with_hidden: Some(target), ..Context::new(catalog) }
    }

    /// The catalog's error that stopped planning, if one did.
    pub(crate) fn take_error(&self) -> Option<Error> {
        self.error.borrow_mut().take()
    }

    fn find(&self, name: &TableReference) -> Result<Arc<dyn TableSource>> {
        let parts: Vec<String> = match name {
            TableReference::Bare { table } => vec![table.to_string()],
            TableReference::Partial { schema, table } => vec![schema.to_string(), table.to_string()],
            TableReference::Full { catalog, schema, table } => vec![catalog.to_string(), schema.to_string(), table.to_string()],
        };
        let relation = self.catalog.resolve(&parts)?;
        let relation = Arc::new(
            relation.ok_or_else(|| Error::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", parts.join("."))))?,
        );
        match &relation.kind {
            RelationKind::View { query } => {
                let plan = self.expand(query, &relation.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>())?;
                Ok(Arc::new(datafusion::datasource::DefaultTableSource::new(Arc::new(datafusion::datasource::ViewTable::new(plan, None)))))
            }
            _ if self.with_hidden == Some(relation.id) => Ok(Arc::new(RelationSource::stored(relation))),
            _ => Ok(Arc::new(RelationSource::visible(relation))),
        }
    }

    /// The plan of a view's text, with its columns' names.
    fn expand(&self, query: &str, names: &[String]) -> Result<LogicalPlan> {
        if self.depth.get() >= MAX_VIEW_DEPTH {
            return Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, format!("views are nested deeper than {MAX_VIEW_DEPTH} levels")));
        }
        self.depth.set(self.depth.get() + 1);
        let plan = millstream_sql::parse_query(query).and_then(|parsed| super::to_plan(self, &parsed.query, query));
        self.depth.set(self.depth.get() - 1);
        let plan = plan.map_err(|e| without_position(&e))?;
        let columns = plan.schema().columns().into_iter().zip(names);
        let renamed = columns.map(|(c, name)| datafusion::logical_expr::Expr::Column(c).alias(name)).collect::<Vec<_>>();
        LogicalPlanBuilder::from(plan)
            .project(renamed)
            .and_then(LogicalPlanBuilder::build)
            .map_err(|e| millstream_functions::from_datafusion_in(query, e))
    }
}

/// A position in a view's text means nothing in the statement's.
fn without_position(e: &Error) -> Error {
    let mut error = Error::new(e.state(), e.message());
    if let Some(detail) = e.detail() {
        error = error.with_detail(detail);
    }
    match e.hint() {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

impl ContextProvider for Context {
    fn get_table_source(&self, name: TableReference) -> DfResult<Arc<dyn TableSource>> {
        if let Some(known) = self.sources.borrow().get(&name.to_string()) {
            return Ok(Arc::clone(known));
        }
        match self.find(&name) {
            Ok(source) => {
                self.sources.borrow_mut().insert(name.to_string(), Arc::clone(&source));
                Ok(source)
            }
            Err(e) => {
                self.error.borrow_mut().get_or_insert(e.clone());
                Err(external(e))
            }
        }
    }

    fn get_table_function_source(&self, name: &str, args: Vec<datafusion::logical_expr::Expr>) -> DfResult<Arc<dyn TableSource>> {
        super::table_functions::source(name, args).inspect_err(|e| {
            if let DataFusionError::External(inner) = e
                && let Some(own) = inner.downcast_ref::<Error>()
            {
                self.error.borrow_mut().get_or_insert(own.clone());
            }
        })
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.planners
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(PostgresTypes))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        registry().scalar(name)
    }

    fn get_higher_order_meta(&self, _name: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        registry().aggregate(name)
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        datafusion::functions_window::all_default_window_functions().into_iter().find(|f| f.name() == name)
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &self.options
    }

    fn udf_names(&self) -> Vec<String> {
        registry().all_scalars().iter().map(|f| f.name().to_owned()).collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        vec![]
    }

    fn udaf_names(&self) -> Vec<String> {
        registry().all_aggregates().iter().map(|f| f.name().to_owned()).collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        datafusion::functions_window::all_default_window_functions().iter().map(|f| f.name().to_owned()).collect()
    }
}

/// SQL types as `crates/sql` reads them.
#[derive(Debug)]
struct PostgresTypes;

impl TypePlanner for PostgresTypes {
    fn plan_type_field(&self, sql_type: &SqlDataType) -> DfResult<Option<FieldRef>> {
        let planned = millstream_sql::sql_type(sql_type).map_err(|e| DataFusionError::External(Box::new(e)))?;
        Ok(Some(Arc::new(Field::new("", planned.to_arrow(), true))))
    }
}

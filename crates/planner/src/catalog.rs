//! What the planner asks about names, and how DataFusion sees the answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::logical_expr::{TableSource, TableType};
use millstream_types::{Column, ObjectId, Result, Schema};

/// Names of relations.
pub trait PlannerCatalog: Send + Sync {
    /// The relation of a name of one to three parts (`[[database.]schema.]name`); `None` if there is none.
    ///
    /// # Errors
    /// 0A000 for another database.
    fn resolve(&self, name: &[String]) -> Result<Option<PlannerRelation>>;
}

/// What a relation is to the planner.
#[derive(Clone)]
pub enum RelationKind {
    /// Kept rows that DML changes.
    Table,
    /// Kept rows that a job changes.
    MaterializedView,
    /// Rows from outside.
    Source {
        /// The connector.
        connector: String,
        /// Its options, without `connector`.
        options: BTreeMap<String, String>,
    },
    /// A name for a query; its text is planned in place.
    View {
        /// The query.
        query: String,
    },
    /// A system relation: only for ad hoc reads.
    System(Arc<dyn TableProvider>),
}

/// A relation as the catalog knows it.
#[derive(Clone)]
pub struct PlannerRelation {
    /// Its number.
    pub id: ObjectId,
    /// Its name, for messages.
    pub name: String,
    /// What it is.
    pub kind: RelationKind,
    /// The columns that a query sees.
    pub columns: Vec<Column>,
    /// Columns behind them that are stored but not seen (`_row_id`).
    pub hidden: Vec<Column>,
    /// Columns that identify a row, as indices into `columns` followed by `hidden`.
    pub key: Option<Vec<usize>>,
    /// True if rows are never taken back.
    pub append_only: bool,
}

impl PlannerRelation {
    /// Seen, then hidden columns.
    pub fn stored_schema(&self) -> Schema {
        Schema::new(self.columns.iter().chain(&self.hidden).cloned().collect())
    }

    /// Columns that a query sees.
    pub fn visible_schema(&self) -> Schema {
        Schema::new(self.columns.clone())
    }
}

/// A relation in a DataFusion plan. `hidden` says whether its hidden columns can be named (only DML plans do).
#[derive(Clone)]
pub struct RelationSource {
    /// The relation.
    pub relation: Arc<PlannerRelation>,
    schema: SchemaRef,
}

impl RelationSource {
    /// The relation as queries see it.
    pub fn visible(relation: Arc<PlannerRelation>) -> Self {
        let schema = relation.visible_schema().to_arrow();
        RelationSource { relation, schema }
    }

    /// The relation as DML sees it, with hidden columns.
    pub fn stored(relation: Arc<PlannerRelation>) -> Self {
        let schema = relation.stored_schema().to_arrow();
        RelationSource { relation, schema }
    }
}

impl RelationSource {
    /// True if hidden columns are among its columns.
    pub fn with_hidden(&self) -> bool {
        self.schema.fields().len() > self.relation.columns.len()
    }
}

impl std::fmt::Debug for RelationSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RelationSource({})", self.relation.name)
    }
}

impl TableSource for RelationSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }
}

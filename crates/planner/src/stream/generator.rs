//! Plan nodes to operators.
//!
//! UNION ALL has no operator: its inputs become several edges into the next one. Edges between equal parallelism are FORWARD, except
//! into a GROUP BY, which needs the rows of a key in one place (HASH). Where parallelism differs, appended rows are dealt out
//! (REBALANCE) and changes go by hash of the whole row, so that a retraction always takes the way of its insert.
//!
//! A relation is read once however often a job names it: its operator reads the columns that any of them needs, and each takes its own
//! with a Calc.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan, TableScan};
use millstream_graph::{
    CalcSpec, ChainingStrategy, OperatorSpec, Partitioner, ScalarExpr, SourceSpec, StreamEdge, StreamGraph, StreamNode, SubscriptionSpec,
    ValuesSpec, stream_graph::STREAM_GRAPH_VERSION,
};
use millstream_types::{ChangelogMode, Datum, Error, JobId, ObjectId, OperatorId, Result, Schema};

use super::StreamPlan;
use super::aggregate::{self, Grouping};
use super::expression::{datum, scalar};
use super::merge;
use crate::catalog::{PlannerRelation, RelationKind, RelationSource};
use crate::settings::PlannerSettings;

/// The operators whose output together is a stream; more than one for UNION ALL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stream(Vec<OperatorId>);

/// Builds one graph.
pub(super) struct Generator<'a> {
    settings: &'a PlannerSettings,
    graph: StreamGraph,
    upstream: BTreeSet<ObjectId>,
    depends_on: BTreeSet<ObjectId>,
    external: bool,
    /// The columns that plans read, by relation.
    needed: BTreeMap<ObjectId, BTreeSet<usize>>,
}

impl<'a> Generator<'a> {
    pub(super) fn new(job: JobId, name: &str, settings: &'a PlannerSettings) -> Self {
        let graph = StreamGraph {
            version: STREAM_GRAPH_VERSION,
            job,
            name: name.to_owned(),
            chaining: settings.chaining,
            nodes: vec![],
            edges: vec![],
        };
        Generator { settings, graph, upstream: BTreeSet::new(), depends_on: BTreeSet::new(), external: false, needed: BTreeMap::new() }
    }

    /// Notes what a plan reads. To be called with all plans of the job before the first [`Generator::stream`].
    pub(super) fn reads(&mut self, plan: &LogicalPlan) -> Result<()> {
        let visited = plan.apply(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Some(source) = relation_source(scan)
            {
                self.needed.entry(source.relation.id).or_default().extend(projection(scan, source));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        visited.map(drop).map_err(millstream_functions::from_datafusion)
    }

    pub(super) fn depends_on(&mut self, object: ObjectId) {
        self.depends_on.insert(object);
    }

    pub(super) fn finish(self) -> Result<StreamGraph> {
        self.graph.validate()?;
        Ok(self.graph)
    }

    pub(super) fn into_plan(mut self, schema: Schema, key: Option<Vec<usize>>, append_only: bool) -> Result<StreamPlan> {
        self.depends_on.extend(&self.upstream);
        let (upstream, depends_on, external) = (self.upstream.clone(), self.depends_on.clone(), self.external);
        Ok(StreamPlan {
            graph: self.finish()?,
            schema,
            key,
            append_only,
            upstream: upstream.into_iter().collect(),
            depends_on: depends_on.into_iter().collect(),
            external,
        })
    }

    /// The first operator of a stream: all have the same columns.
    fn node(&self, stream: &Stream) -> Result<&StreamNode> {
        let first = stream.0.first().and_then(|id| self.graph.node(*id));
        first.ok_or_else(|| Error::internal("a stream without operators"))
    }

    pub(super) fn rename(&mut self, stream: &Stream, schema: &Schema) {
        self.graph.nodes.iter_mut().filter(|n| stream.0.contains(&n.id)).for_each(|n| n.schema = schema.clone());
    }

    fn push(
        &mut self,
        spec: OperatorSpec,
        schema: Schema,
        changelog: ChangelogMode,
        upsert_key: Option<Vec<usize>>,
        parallelism: u32,
    ) -> OperatorId {
        let id = OperatorId(self.graph.nodes.len() as u64 + 1);
        self.graph.nodes.push(StreamNode {
            id,
            spec,
            schema,
            changelog,
            upsert_key,
            parallelism,
            max_parallelism: self.settings.max_parallelism,
            slot_sharing_group: self.settings.slot_sharing_group.clone(),
            chaining_strategy: ChainingStrategy::Always,
        });
        id
    }

    /// An operator without input. An equal one that is there already is shared.
    pub(super) fn source(
        &mut self,
        spec: OperatorSpec,
        schema: Schema,
        changelog: ChangelogMode,
        key: Option<Vec<usize>>,
        parallelism: u32,
    ) -> Stream {
        if let Some(same) = self.graph.nodes.iter().find(|n| n.spec == spec && n.spec.is_source()) {
            return Stream(vec![same.id]);
        }
        Stream(vec![self.push(spec, schema, changelog, key, parallelism)])
    }

    /// What all operators of a stream have in common: changelog, key, parallelism.
    pub(super) fn properties(&self, stream: &Stream) -> Result<(ChangelogMode, Option<Vec<usize>>, u32)> {
        let nodes: Vec<&StreamNode> = stream.0.iter().filter_map(|id| self.graph.node(*id)).collect();
        let append = nodes.iter().all(|n| n.changelog == ChangelogMode::Append);
        let changelog = if append { ChangelogMode::Append } else { ChangelogMode::Retract };
        let key = match nodes.as_slice() {
            [one] => one.upsert_key.clone(),
            _ => None,
        };
        let parallelism = nodes.iter().map(|n| n.parallelism).max();
        Ok((changelog, key, parallelism.ok_or_else(|| Error::internal("a stream without operators"))?))
    }

    /// An operator that keeps the rows as they are: Materialize, a sink.
    pub(super) fn consumer(&mut self, spec: OperatorSpec, input: &Stream) -> Result<Stream> {
        let schema = self.node(input)?.schema.clone();
        let (changelog, key, parallelism) = self.properties(input)?;
        let id = self.push(spec, schema, changelog, key, parallelism);
        self.connect(input, id)?;
        Ok(Stream(vec![id]))
    }

    fn connect(&mut self, input: &Stream, target: OperatorId) -> Result<()> {
        let to = self.graph.node(target).map(|n| n.parallelism).ok_or_else(|| Error::internal("no target"))?;
        for source in &input.0 {
            let from = self.graph.node(*source).ok_or_else(|| Error::internal("no source"))?;
            let partitioner = if from.parallelism == to {
                Partitioner::Forward
            } else if to == 1 {
                Partitioner::Global
            } else if from.changelog == ChangelogMode::Append {
                Partitioner::Rebalance
            } else {
                Partitioner::Hash { columns: (0..from.schema.len()).collect() }
            };
            self.graph.edges.push(StreamEdge { source: *source, target, input: 0, partitioner });
        }
        Ok(())
    }

    /// The stream of a plan.
    pub(super) fn stream(&mut self, plan: &LogicalPlan) -> Result<Stream> {
        match plan {
            LogicalPlan::Projection(p) => {
                // A filter directly below goes into the same operator.
                let (input, filter) = match p.input.as_ref() {
                    LogicalPlan::Filter(f) if self.settings.merge_calcs => (f.input.as_ref(), Some(&f.predicate)),
                    other => (other, None),
                };
                self.calc(input, filter, Some(&p.expr), &Schema::from_arrow(p.schema.as_arrow())?)
            }
            LogicalPlan::Filter(f) => self.calc(&f.input, Some(&f.predicate), None, &Schema::from_arrow(f.input.schema().as_arrow())?),
            LogicalPlan::SubqueryAlias(alias) => self.stream(&alias.input),
            LogicalPlan::Union(union) => {
                let mut all: Vec<OperatorId> = vec![];
                for input in &union.inputs {
                    for id in self.stream(input)?.0 {
                        // Two edges between the same operators would be one: the second gets a Calc of its own.
                        all.push(if all.contains(&id) { self.copy(id)? } else { id });
                    }
                }
                Ok(Stream(all))
            }
            LogicalPlan::Distinct(Distinct::All(input)) => self.distinct(input),
            LogicalPlan::Aggregate(aggregate) => {
                let grouping = aggregate::grouping(aggregate)?;
                let schema = Schema::from_arrow(aggregate.schema.as_arrow())?;
                self.group(&aggregate.input, grouping, schema)
            }
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::EmptyRelation(empty) => {
                let rows = if empty.produce_one_row { vec![vec![]] } else { vec![] };
                self.values(rows, Schema::from_arrow(empty.schema.as_arrow())?)
            }
            LogicalPlan::Values(values) => {
                let schema = Schema::from_arrow(values.schema.as_arrow())?;
                let rows = values.values.iter().map(|row| row.iter().map(constant).collect::<Result<Vec<_>>>());
                let rows = rows.collect::<Result<Vec<_>>>()?;
                self.values(rows, schema)
            }
            other => Err(Error::unsupported(format!("{} in a streaming query", construct(other)))),
        }
    }

    fn values(&mut self, rows: Vec<Vec<Datum>>, schema: Schema) -> Result<Stream> {
        let id = self.push(OperatorSpec::Values(ValuesSpec { rows }), schema, ChangelogMode::Append, None, 1);
        Ok(Stream(vec![id]))
    }

    fn calc(&mut self, input: &LogicalPlan, filter: Option<&Expr>, projection: Option<&[Expr]>, schema: &Schema) -> Result<Stream> {
        let from = self.stream(input)?;
        let df_schema = input.schema();
        let filter = filter.map(|f| scalar(f, df_schema)).transpose()?;
        let projection = match projection {
            Some(exprs) => exprs.iter().map(|e| scalar(e, df_schema)).collect::<Result<Vec<_>>>()?,
            None => identity(df_schema)?,
        };
        self.push_calc(&from, CalcSpec { filter, projection }, schema.clone())
    }

    fn push_calc(&mut self, input: &Stream, spec: CalcSpec, schema: Schema) -> Result<Stream> {
        let own = self.node(input)?.schema.len();
        let columns: Vec<Option<usize>> = spec.projection.iter().map(column).collect();
        let is_identity = columns.len() == own && columns.iter().enumerate().all(|(i, c)| *c == Some(i));
        if self.settings.merge_calcs && spec.filter.is_none() && is_identity {
            return Ok(input.clone());
        }
        let (changelog, key, parallelism) = self.properties(input)?;
        let position = |k: &usize| columns.iter().position(|c| *c == Some(*k));
        let key = key.and_then(|k| k.iter().map(position).collect::<Option<Vec<_>>>());
        if let (true, [below]) = (self.settings.merge_calcs, input.0.as_slice())
            && let Some(node) = self.graph.nodes.iter_mut().find(|n| n.id == *below)
            && let OperatorSpec::Calc(inner) = &node.spec
            && let Some(merged) = merge::merge(&spec, inner)
        {
            // Calcs are never shared: nobody else reads the one below.
            (node.spec, node.schema, node.upsert_key) = (OperatorSpec::Calc(merged), schema, key);
            return Ok(input.clone());
        }
        let id = self.push(OperatorSpec::Calc(spec), schema, changelog, key, parallelism);
        self.connect(input, id)?;
        Ok(Stream(vec![id]))
    }

    /// A Calc that keeps rows as they are.
    fn copy(&mut self, id: OperatorId) -> Result<OperatorId> {
        let input = Stream(vec![id]);
        let schema = self.node(&input)?.schema.clone();
        let projection = schema.columns.iter().enumerate().map(|(i, c)| ScalarExpr::column(i, c.sql_type.clone())).collect();
        let (changelog, key, parallelism) = self.properties(&input)?;
        let spec = OperatorSpec::Calc(CalcSpec { filter: None, projection });
        let copy = self.push(spec, schema, changelog, key, parallelism);
        self.connect(&input, copy)?;
        Ok(copy)
    }

    fn distinct(&mut self, input: &LogicalPlan) -> Result<Stream> {
        let schema = Schema::from_arrow(input.schema().as_arrow())?;
        let keys = input.schema().columns().into_iter().map(Expr::Column).map(|e| scalar(&e, input.schema())).collect::<Result<_>>()?;
        self.group(input, Grouping { keys, inputs: vec![], aggregates: vec![] }, schema)
    }

    /// A Calc that computes keys and arguments, then the GROUP BY by hash of the keys.
    fn group(&mut self, input: &LogicalPlan, grouping: Grouping, schema: Schema) -> Result<Stream> {
        let from = self.stream(input)?;
        let Grouping { keys, inputs, aggregates } = grouping;
        let key_count = keys.len();
        let projection: Vec<ScalarExpr> = keys.into_iter().chain(inputs).collect();
        let calc_schema =
            Schema::new(projection.iter().enumerate().map(|(i, e)| millstream_types::Column::new(format!("c{i}"), e.sql_type())).collect());
        let prepared = self.push_calc(&from, CalcSpec { filter: None, projection }, calc_schema)?;
        let (changelog, _, parallelism) = self.properties(&prepared)?;
        let append_only_input = changelog == ChangelogMode::Append;
        let appends = append_only_input && aggregates.is_empty();
        let spec = millstream_graph::GroupAggregateSpec { keys: (0..key_count).collect(), aggregates, append_only_input };
        let (partitioner, parallelism) = if key_count == 0 {
            (Partitioner::Global, 1)
        } else {
            let parallelism = parallelism.max(if append_only_input { self.settings.parallelism } else { parallelism });
            (Partitioner::Hash { columns: (0..key_count).collect() }, parallelism)
        };
        let changelog = if appends { ChangelogMode::Append } else { ChangelogMode::Retract };
        let key = Some((0..key_count).collect());
        let id = self.push(OperatorSpec::GroupAggregate(spec), schema, changelog, key, parallelism);
        for source in prepared.0 {
            self.graph.edges.push(StreamEdge { source, target: id, input: 0, partitioner: partitioner.clone() });
        }
        Ok(Stream(vec![id]))
    }

    /// The operator that reads a relation, and a Calc if it reads more than this scan wants.
    fn scan(&mut self, scan: &TableScan) -> Result<Stream> {
        let source = relation_source(scan).ok_or_else(|| Error::unsupported("a system relation in a streaming query"))?;
        let relation = &source.relation;
        let all = relation.stored_schema();
        let wanted = projection(scan, source);
        let mut read = self.needed.get(&relation.id).cloned().unwrap_or_default();
        read.extend(&wanted);
        let read: Vec<usize> = read.into_iter().collect();
        let position = |k: &usize| read.iter().position(|p| p == k);
        let key = relation.key.as_ref().and_then(|k| k.iter().map(position).collect::<Option<Vec<_>>>());
        let changelog = if relation.append_only { ChangelogMode::Append } else { ChangelogMode::Retract };
        let schema = all.project(&read);
        let spec = self.reader(relation, all, read.clone())?;
        let stream = self.source(spec, schema.clone(), changelog, key, self.settings.parallelism);
        if wanted == read {
            return Ok(stream);
        }
        let at = wanted.iter().filter_map(position).collect::<Vec<_>>();
        let columns = at.iter().map(|&i| ScalarExpr::column(i, schema.columns[i].sql_type.clone())).collect();
        self.push_calc(&stream, CalcSpec { filter: None, projection: columns }, schema.project(&at))
    }

    fn reader(&mut self, relation: &PlannerRelation, schema: Schema, projection: Vec<usize>) -> Result<OperatorSpec> {
        Ok(match &relation.kind {
            RelationKind::Table | RelationKind::MaterializedView => {
                self.upstream.insert(relation.id);
                OperatorSpec::Subscription(SubscriptionSpec {
                    relation: relation.id,
                    name: relation.name.clone(),
                    schema,
                    projection,
                    append_only: relation.append_only,
                })
            }
            RelationKind::Source { connector, options } => {
                self.external = true;
                self.depends_on.insert(relation.id);
                let (name, connector, options) = (relation.name.clone(), connector.clone(), options.clone());
                OperatorSpec::Source(SourceSpec { name, connector, options, schema, projection })
            }
            RelationKind::View { .. } | RelationKind::System(_) => {
                return Err(Error::unsupported(format!("reading \"{}\" in a streaming query", relation.name)));
            }
        })
    }
}

fn relation_source(scan: &TableScan) -> Option<&RelationSource> {
    (scan.source.as_ref() as &dyn std::any::Any).downcast_ref::<RelationSource>()
}

/// The columns that a scan reads: those that a query sees unless it says otherwise.
fn projection(scan: &TableScan, source: &RelationSource) -> Vec<usize> {
    scan.projection.clone().unwrap_or_else(|| (0..source.relation.columns.len()).collect())
}

fn column(expr: &ScalarExpr) -> Option<usize> {
    if let ScalarExpr::Column { index, .. } = expr { Some(*index) } else { None }
}

fn identity(schema: &DFSchema) -> Result<Vec<ScalarExpr>> {
    schema.columns().into_iter().map(|c| scalar(&Expr::Column(c), schema)).collect()
}

/// A constant of VALUES.
fn constant(expr: &Expr) -> Result<Datum> {
    match expr {
        Expr::Literal(value, _) => datum(value),
        Expr::Alias(alias) => constant(&alias.expr),
        _ => Err(Error::unsupported("VALUES with expressions in a streaming query").with_hint("write the constants")),
    }
}

/// SQL's word for a plan node.
fn construct(plan: &LogicalPlan) -> &'static str {
    match plan {
        LogicalPlan::Join(_) => "JOIN",
        LogicalPlan::Sort(_) => "ORDER BY",
        LogicalPlan::Limit(_) => "LIMIT",
        LogicalPlan::Window(_) => "OVER",
        LogicalPlan::Distinct(_) => "DISTINCT ON",
        LogicalPlan::Unnest(_) => "UNNEST",
        LogicalPlan::RecursiveQuery(_) => "WITH RECURSIVE",
        LogicalPlan::Subquery(_) => "a subquery",
        _ => "this construct",
    }
}

//! StreamGraph to JobGraph: fuses operators into chains and numbers the data sets between them.
//!
//! An edge `A -> B` is fused only if all of these hold (Flink's `StreamingJobGraphGenerator`): chaining is on for the job; B has exactly
//! one input edge (so no second edge goes into the same input either); same slot sharing group; A's strategy is not NEVER; B's strategy
//! is ALWAYS; the partitioner is FORWARD; equal parallelism; equal max parallelism.

use std::collections::BTreeMap;

use millstream_types::{Error, JobVertexId, OperatorId, Result};

use crate::{
    ChainOutput, ChainedOperator, ChainingStrategy, DataSetId, IntermediateDataSet, JobEdge, JobGraph, JobVertex, Partitioner, StreamEdge,
    StreamGraph, StreamNode,
};

/// Makes the JobGraph of a StreamGraph.
#[derive(Debug)]
pub struct JobGraphGenerator<'a> {
    graph: &'a StreamGraph,
    /// The head of the chain that each operator is in.
    head: BTreeMap<OperatorId, OperatorId>,
    /// Numbers of the edges that cross chains, by their index in the StreamGraph.
    data_sets: BTreeMap<usize, DataSetId>,
}

impl<'a> JobGraphGenerator<'a> {
    /// Chains and numbers `graph`.
    ///
    /// # Errors
    /// XX000 if the graph breaks a rule of [`StreamGraph::validate`].
    pub fn generate(graph: &'a StreamGraph) -> Result<JobGraph> {
        graph.validate()?;
        let mut generator = JobGraphGenerator { graph, head: BTreeMap::new(), data_sets: BTreeMap::new() };
        generator.assign_chains()?;
        let heads = graph.nodes.iter().filter(|n| generator.head.get(&n.id) == Some(&n.id));
        let vertices = heads.map(|n| generator.vertex(n)).collect::<Result<Vec<_>>>()?;
        Ok(JobGraph { job: graph.job, name: graph.name.clone(), vertices })
    }

    fn assign_chains(&mut self) -> Result<()> {
        for node in &self.graph.nodes {
            let mut inputs = self.graph.inputs(node.id);
            let chained_to = match (inputs.next(), inputs.next()) {
                (Some(edge), None) if self.is_chainable(edge, node)? => Some(edge.source),
                _ => None,
            };
            let head = match chained_to {
                Some(source) => *self.head.get(&source).ok_or_else(|| Error::internal(format!("{source} has no chain")))?,
                None => node.id,
            };
            self.head.insert(node.id, head);
        }
        let crossing = self.graph.edges.iter().enumerate().filter(|(_, e)| !self.is_fused(e));
        self.data_sets = (0u32..).zip(crossing).map(|(n, (i, _))| (i, DataSetId(n))).collect();
        Ok(())
    }

    /// All conditions but the number of input edges, which the caller has counted.
    fn is_chainable(&self, edge: &StreamEdge, b: &StreamNode) -> Result<bool> {
        let a = self.graph.node(edge.source).ok_or_else(|| Error::internal(format!("no operator {}", edge.source)))?;
        Ok(self.graph.chaining
            && a.slot_sharing_group == b.slot_sharing_group
            && a.chaining_strategy != ChainingStrategy::Never
            && b.chaining_strategy == ChainingStrategy::Always
            && edge.partitioner == Partitioner::Forward
            && a.parallelism == b.parallelism
            && a.max_parallelism == b.max_parallelism)
    }

    fn is_fused(&self, edge: &StreamEdge) -> bool {
        let (from, to) = (self.head.get(&edge.source), self.head.get(&edge.target));
        from == to && to != Some(&edge.target)
    }

    fn vertex_of(&self, operator: OperatorId) -> Result<JobVertexId> {
        let head = self.head.get(&operator).ok_or_else(|| Error::internal(format!("{operator} has no chain")))?;
        Ok(JobVertexId(head.0))
    }

    fn vertex(&self, head: &StreamNode) -> Result<JobVertex> {
        let members: Vec<&StreamNode> = self.graph.nodes.iter().filter(|n| self.head.get(&n.id) == Some(&head.id)).collect();
        let index_of = |id: OperatorId| members.iter().position(|n| n.id == id);
        let mut operators = Vec::with_capacity(members.len());
        let mut produced = Vec::new();
        for node in &members {
            let mut outputs = Vec::new();
            for (i, edge) in self.graph.edges.iter().enumerate().filter(|(_, e)| e.source == node.id) {
                match (self.data_sets.get(&i), index_of(edge.target)) {
                    (Some(&id), _) => {
                        outputs.push(ChainOutput::DataSet(id));
                        let consumer = self.vertex_of(edge.target)?;
                        produced.push(IntermediateDataSet { id, producer: node.id, partitioner: edge.partitioner.clone(), consumer });
                    }
                    (None, Some(target)) => outputs.push(ChainOutput::Chained(target)),
                    (None, None) => return Err(Error::internal(format!("edge into {} is in no chain", edge.target))),
                }
            }
            operators.push(ChainedOperator { node: (*node).clone(), outputs });
        }
        Ok(JobVertex {
            id: JobVertexId(head.id.0),
            name: chain_name(&operators, 0),
            operators,
            inputs: self.inputs(head)?,
            outputs: produced,
            parallelism: head.parallelism,
            max_parallelism: head.max_parallelism,
            slot_sharing_group: head.slot_sharing_group.clone(),
        })
    }

    fn inputs(&self, head: &StreamNode) -> Result<Vec<JobEdge>> {
        let edges = self.graph.edges.iter().enumerate().filter(|(_, e)| e.target == head.id);
        edges
            .map(|(i, edge)| {
                let data_set = *self.data_sets.get(&i).ok_or_else(|| Error::internal(format!("edge into {} has no number", head.id)))?;
                let source = self.vertex_of(edge.source)?;
                Ok(JobEdge { data_set, source, input: edge.input, partitioner: edge.partitioner.clone() })
            })
            .collect()
    }
}

/// `A -> B -> C`, with branches as `A -> (B, C -> D)`.
fn chain_name(operators: &[ChainedOperator], index: usize) -> String {
    let Some(operator) = operators.get(index) else { return String::new() };
    let mut targets = operator.outputs.iter().filter_map(|o| match o {
        ChainOutput::Chained(target) => Some(chain_name(operators, *target)),
        ChainOutput::DataSet(_) => None,
    });
    let name = operator.node.spec.name();
    match (targets.next(), targets.next()) {
        (None, _) => name,
        (Some(one), None) => format!("{name} -> {one}"),
        (Some(first), Some(second)) => {
            let all: Vec<_> = [first, second].into_iter().chain(targets).collect();
            format!("{name} -> ({})", all.join(", "))
        }
    }
}

#[cfg(test)]
mod tests;

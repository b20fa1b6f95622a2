//! Graphs as Graphviz DOT: `EXPLAIN (..., FORMAT DOT)`.

use std::fmt::Write;

use crate::{JobGraph, StreamGraph};

/// A graph of boxes and labelled arrows in DOT.
#[derive(Debug)]
pub struct Dot {
    text: String,
}

impl Dot {
    /// An empty graph of this name, drawn from left to right.
    pub fn new(name: &str) -> Self {
        Dot { text: format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quote(name)) }
    }

    /// A box.
    pub fn node(&mut self, id: &str, label: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "  {} [label={}];", quote(id), quote(label));
    }

    /// An arrow.
    pub fn edge(&mut self, from: &str, to: &str, label: &str) {
        let _ = writeln!(self.text, "  {} -> {} [label={}];", quote(from), quote(to), quote(label));
    }

    /// The text.
    pub fn finish(mut self) -> String {
        self.text.push('}');
        self.text
    }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

impl StreamGraph {
    /// The graph in DOT.
    pub fn to_dot(&self) -> String {
        let mut dot = Dot::new(&self.name);
        for node in &self.nodes {
            dot.node(&node.id.to_string(), &node.spec.to_string());
        }
        for edge in &self.edges {
            dot.edge(&edge.source.to_string(), &edge.target.to_string(), &edge.partitioner.to_string());
        }
        dot.finish()
    }
}

impl JobGraph {
    /// The graph in DOT.
    pub fn to_dot(&self) -> String {
        let mut dot = Dot::new(&self.name);
        for vertex in &self.vertices {
            dot.node(&vertex.id.to_string(), &format!("{}\nparallelism {}", vertex.name, vertex.parallelism));
        }
        for vertex in &self.vertices {
            for edge in &vertex.inputs {
                dot.edge(&edge.source.to_string(), &vertex.id.to_string(), &edge.partitioner.to_string());
            }
        }
        dot.finish()
    }
}

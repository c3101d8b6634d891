//! Graphviz: a chart as a directed graph, composites as clusters.
//!
//! An edge cannot end at a cluster, so it goes to a state inside and is cut off at the border (`lhead`, `ltail`).

use super::{Exported, mermaid::transition_label};
use interlock_chart::{
    Chart,
    model::{Kind, State, StateId, Transition},
};

/// Writes a chart as a Graphviz graph.
pub(super) fn export(chart: &Chart) -> Exported {
    let mut writer = Writer { chart, out: String::new(), depth: 0 };
    writer.line(&format!("digraph {} {{", quote(&chart.id)));
    writer.depth += 1;
    writer.line("compound=true; rankdir=TB; fontname=\"sans-serif\";");
    writer.line("node [shape=box, style=rounded, fontname=\"sans-serif\"];");
    writer.line("edge [fontname=\"sans-serif\", fontsize=10];");
    let root = chart.state(Chart::ROOT);
    writer.inside(root);
    if !root.transitions.is_empty() {
        writer.line("\"(any state)\" [shape=plaintext];");
    }
    for transition in &chart.transitions {
        writer.edge(transition);
    }
    writer.depth -= 1;
    writer.line("}");
    let told = "a graph shows states and edges; data, actions, activities, timeouts and properties are not in it";
    Exported { text: writer.out, warnings: vec![told.to_owned()] }
}

struct Writer<'a> {
    chart: &'a Chart,
    out: String,
    depth: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn inside(&mut self, state: &State) {
        if let (Kind::Compound, Some(initial)) = (state.kind, &state.initial) {
            let start = quote(&format!("{} (start)", state.name));
            self.line(&format!("{start} [shape=point, width=0.15];"));
            for &target in &initial.targets {
                let attributes = self.attributes(String::new(), None, target);
                self.line(&format!("{start} -> {}{attributes};", self.anchor(target)));
            }
        }
        for &child in &state.children {
            self.state(self.chart.state(child));
        }
    }

    fn state(&mut self, state: &State) {
        if state.children.is_empty() {
            return self.line(&format!("{}{};", quote(&state.name), look(state)));
        }
        self.line(&format!("subgraph {} {{", quote(&cluster(state))));
        self.depth += 1;
        let style = if state.kind == Kind::Parallel { "\"rounded,dashed\"" } else { "rounded" };
        self.line(&format!("label={}; style={style};", quote(&state.name)));
        self.inside(state);
        self.depth -= 1;
        self.line("}");
    }

    fn edge(&mut self, transition: &Transition) {
        let chart = self.chart;
        let label = transition_label(chart, transition);
        let is_root = transition.source == Chart::ROOT;
        let from = if is_root { quote("(any state)") } else { self.anchor(transition.source) };
        let source = (!is_root).then_some(transition.source);
        if transition.targets.is_empty() {
            let attributes = self.attributes(format!("{label} (stays)"), source, transition.source);
            return self.line(&format!("{from} -> {from}{attributes};"));
        }
        for &target in &transition.targets {
            let attributes = self.attributes(label.clone(), source, target);
            self.line(&format!("{from} -> {}{attributes};", self.anchor(target)));
        }
    }

    fn attributes(&self, label: String, source: Option<StateId>, target: StateId) -> String {
        let mut attributes = Vec::new();
        if !label.is_empty() {
            attributes.push(format!("label={}", quote(&label)));
        }
        // Graphviz requires that the other end of the edge is outside the cluster at which the edge is clipped.
        let apart = |outer: StateId, inner: Option<StateId>| {
            inner.is_none_or(|inner| inner != outer && !self.chart.is_descendant(inner, outer))
        };
        let is_cluster = |id: StateId| id != Chart::ROOT && !self.chart.state(id).children.is_empty();
        if let Some(source) = source.filter(|&source| is_cluster(source) && apart(source, Some(target))) {
            attributes.push(format!("ltail={}", quote(&cluster(self.chart.state(source)))));
        }
        if is_cluster(target) && apart(target, source) {
            attributes.push(format!("lhead={}", quote(&cluster(self.chart.state(target)))));
        }
        if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) }
    }

    /// Returns the node that represents a state: the state itself, or the first state inside it.
    fn anchor(&self, id: StateId) -> String {
        let mut state = self.chart.state(id);
        while let Some(&child) = state.children.first() {
            state = self.chart.state(child);
        }
        quote(&state.name)
    }
}

fn cluster(state: &State) -> String {
    format!("cluster_{}", state.name)
}

fn look(state: &State) -> &'static str {
    match state.kind {
        Kind::Final => " [peripheries=2]",
        Kind::ShallowHistory => " [shape=circle, label=\"H\"]",
        Kind::DeepHistory => " [shape=circle, label=\"H*\"]",
        Kind::Atomic | Kind::Compound | Kind::Parallel => "",
    }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " "))
}

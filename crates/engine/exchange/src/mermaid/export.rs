//! Writes a chart as a Mermaid diagram.

use std::collections::BTreeMap;

use super::label;
use crate::Exported;
use interlock_chart::{
    Chart, counted,
    model::{Kind, Max, State, StateId, Transition},
    unresolve,
};

/// Writes a chart as a Mermaid state diagram.
pub(crate) fn export(chart: &Chart) -> Exported {
    let mut writer = Writer { chart, ids: ids(chart), out: String::from("stateDiagram-v2\n"), depth: 1, not_drawn: 0 };
    let root = chart.state(Chart::ROOT);
    writer.inside(root);
    for &id in &root.transitions {
        writer.anywhere(chart.transition(id));
    }
    let warnings = warnings(chart, writer.not_drawn);
    Exported { text: writer.out, warnings }
}

/// Returns the label of a transition in a picture: `event [guard] / limit 3`.
pub(crate) fn transition_label(chart: &Chart, transition: &Transition) -> String {
    let events: Vec<_> = transition.events.iter().map(|event| event.text.as_str()).collect();
    let mut label = events.join(", ");
    if let Some(guard) = &transition.guard {
        label.push_str(&format!(" [{}]", guard.source));
    }
    let limits: Vec<_> = transition.limits.iter().map(|limit| self::limit(chart, limit)).collect();
    if !limits.is_empty() {
        label.push_str(&format!(" / limit {}", limits.join(", ")));
    }
    label.trim().to_owned()
}

fn limit(chart: &Chart, limit: &interlock_chart::model::Limit) -> String {
    let max = match &limit.max {
        Max::Fixed(max) => max.to_string(),
        Max::Input { expr, .. } => expr.source.clone(),
    };
    let counter = &chart.counters[limit.counter.index()];
    if counter.named { format!("{max} of {}", counter.name) } else { max }
}

/// Returns ids that Mermaid can read. A name with a `-`, `.` or `:` is not a legal id.
fn ids(chart: &Chart) -> BTreeMap<StateId, String> {
    let mut taken: BTreeMap<String, u32> = BTreeMap::new();
    let mut ids = BTreeMap::new();
    for state in &chart.states {
        let plain: String =
            state.name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
        let count = taken.entry(plain.clone()).and_modify(|count| *count += 1).or_insert(1);
        ids.insert(state.id, if *count == 1 { plain } else { format!("{plain}__{count}") });
    }
    ids
}

struct Writer<'a> {
    chart: &'a Chart,
    ids: BTreeMap<StateId, String>,
    out: String,
    depth: usize,
    /// The number of transitions that Mermaid has no arrow for.
    not_drawn: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn id(&self, state: StateId) -> String {
        self.ids.get(&state).cloned().unwrap_or_default()
    }

    /// Writes the children of a state and the arrows between them.
    fn inside(&mut self, state: &State) {
        let chart = self.chart;
        if let (Kind::Compound, Some(initial)) = (state.kind, &state.initial) {
            let child = |target: StateId| {
                std::iter::once(target)
                    .chain(chart.ancestors(target))
                    .find(|&at| chart.state(at).parent == Some(state.id))
            };
            if let Some(first) = initial.targets.first().and_then(|&target| child(target)) {
                self.line(&format!("[*] --> {}", self.id(first)));
            }
        }
        for (index, &child) in state.children.iter().enumerate() {
            if state.kind == Kind::Parallel && index > 0 {
                self.line("--");
            }
            self.state(chart.state(child));
        }
        for &child in state.children.iter().filter(|_| state.kind != Kind::Parallel) {
            self.arrows(chart.state(child));
        }
    }

    fn state(&mut self, state: &State) {
        let id = self.id(state.id);
        let shown = match state.kind {
            Kind::ShallowHistory => "H",
            Kind::DeepHistory => "H*",
            _ => state.name.as_str(),
        };
        if shown != id {
            self.line(&format!("state \"{}\" as {id}", label::encode(shown)));
        }
        if state.children.is_empty() {
            if shown == id {
                self.line(&id);
            }
            return;
        }
        self.line(&format!("state {id} {{"));
        self.depth += 1;
        self.inside(state);
        self.depth -= 1;
        self.line("}");
        // Arrows out of a region are written outside the braces of the parallel state, because Mermaid allows them only
        // there.
        let regions = state.children.iter().filter(|_| state.kind == Kind::Parallel);
        for &region in regions {
            self.arrows(self.chart.state(region));
        }
    }

    fn arrows(&mut self, state: &State) {
        for &id in &state.transitions {
            self.arrow(state, self.chart.transition(id));
        }
        if state.kind.is_history() {
            for &target in state.initial.iter().flat_map(|initial| &initial.targets) {
                self.line(&format!("{} --> {}", self.id(state.id), self.id(target)));
            }
        }
        if state.kind == Kind::Final {
            self.line(&format!("{} --> [*]", self.id(state.id)));
        }
    }

    fn arrow(&mut self, source: &State, transition: &Transition) {
        let chart = self.chart;
        let label = label::encode(&transition_label(chart, transition));
        let label = if label.is_empty() { label } else { format!(" : {label}") };
        let from = self.id(source.id);
        let into_itself = transition.targets.iter().any(|&target| chart.is_descendant(target, source.id));
        if transition.targets.is_empty() || into_itself {
            self.not_drawn += 1;
            let to = unresolve::names(chart, &transition.targets).join(", ");
            return self.line(&format!("%% {} -> {}{label}", source.name, if to.is_empty() { "(stays)" } else { &to }));
        }
        for &target in &transition.targets {
            self.line(&format!("{from} --> {}{label}", self.id(target)));
        }
    }

    fn anywhere(&mut self, transition: &Transition) {
        let to = unresolve::names(self.chart, &transition.targets).join(", ");
        let label = label::encode(&transition_label(self.chart, transition));
        self.line(&format!("%% from any state -> {} : {label}", if to.is_empty() { "(stays)" } else { &to }));
    }
}

/// Returns warnings about the parts of the chart that the picture does not show.
fn warnings(chart: &Chart, not_drawn: usize) -> Vec<String> {
    let from_anywhere = chart.state(Chart::ROOT).transitions.len();
    let mut warnings = vec![
        "a diagram shows states and arrows; data, actions, activities, timeouts and properties are not in it"
            .to_owned(),
    ];
    if from_anywhere > 0 {
        let said =
            counted(from_anywhere, "transition from any state is a comment", "transitions from any state are comments");
        warnings.push(format!("{said}: Mermaid has no such arrow"));
    }
    if not_drawn > 0 {
        let said = counted(
            not_drawn,
            "transition that stays inside its state is a comment",
            "transitions that stay inside their state are comments",
        );
        warnings.push(format!("{said}: Mermaid has no such arrow"));
    }
    warnings
}

//! Draws the visited part of a chart as a Mermaid state diagram, for Markdown.

use super::{Detail, Visits, is_parallel, part};
use interlock_chart::{
    Chart,
    model::{Kind, StateId, TransitionId},
};

/// Draws the visited part of a chart as a Mermaid state diagram. Names are quoted, so no name can be read as syntax.
pub fn mermaid(chart: &Chart, visits: &Visits) -> String {
    let (part, highlight) = part::of(chart, visits, Detail::Events);
    let mut lines = vec!["stateDiagram-v2".to_owned()];
    inside(&part, Chart::ROOT, 1, &mut lines);
    for transition in &part.transitions {
        for &target in &transition.targets {
            let count = highlight.counts.get(&transition.id).copied().unwrap_or(1);
            lines.push(format!(
                "    {} --> {}{}",
                id(transition.source),
                id(target),
                label(&part, transition.id, count)
            ));
        }
    }
    lines.join("\n") + "\n"
}

/// Appends the lines of the states inside a state, with their descendants.
fn inside(part: &Chart, outer: StateId, depth: usize, lines: &mut Vec<String>) {
    let indent = "    ".repeat(depth);
    let state = part.state(outer);
    for (at, &child) in state.children.iter().enumerate() {
        if at > 0 && is_parallel(state.kind) {
            lines.push(format!("{indent}--"));
        }
        let inner = part.state(child);
        lines.push(format!("{indent}state \"{}\" as {}", quoted(&inner.name), id(child)));
        if !inner.children.is_empty() {
            lines.push(format!("{indent}state {} {{", id(child)));
            inside(part, child, depth + 1, lines);
            lines.push(format!("{indent}}}"));
        }
        if inner.kind == Kind::Final {
            lines.push(format!("{indent}{} --> [*]", id(child)));
        }
    }
    for target in state.initial.iter().flat_map(|initial| &initial.targets) {
        lines.push(format!("{indent}[*] --> {}", id(*target)));
    }
}

fn id(state: StateId) -> String {
    format!("s{}", state.index())
}

/// The events of a transition, and how often it was taken if that is more than once.
fn label(part: &Chart, transition: TransitionId, count: u32) -> String {
    let events: Vec<String> = part.transition(transition).events.iter().map(|event| quoted(&event.text)).collect();
    let events = events.join(", ");
    match (events.is_empty(), count) {
        (true, 0 | 1) => String::new(),
        (true, count) => format!(" : {count}×"),
        (false, 0 | 1) => format!(" : {events}"),
        (false, count) => format!(" : {events} ({count}×)"),
    }
}

/// Text without the characters that Mermaid or Markdown would read as syntax.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '*' | ' ');
    text.chars().map(|letter| if is_plain(letter) { letter } else { ' ' }).collect()
}

//! Statements: the end of a block, returned values, the order of statements, and superfluous statements.

use std::collections::BTreeSet;

use super::{At, Proposal};
use crate::edit::Edit;
use crate::source::Source;
use crate::template::Template::{Break, Delete, Return, ReturnValue, SwappedStatements};

/// Proposes `break` at the end of a case, `return` at the end of a block, and exchanges `break` and `continue`.
pub(crate) fn ends(at: &At<'_>, into: &mut Vec<Proposal>) {
    match at.kind() {
        "case_statement" => end_case(at, into),
        "compound_statement" if matches!(at.source.kind(at.source.parent(at.node)), "if_statement" | "else_clause") => {
            end_block(at, into)
        }
        "break_statement" => at.instead(into, Break, 0.4, at.node, "continue;"),
        "continue_statement" => at.instead(into, Break, 0.5, at.node, "break;"),
        _ => {}
    }
}

fn leaves(source: &Source, statement: usize) -> bool {
    matches!(source.kind(statement), "break_statement" | "return_statement" | "continue_statement" | "goto_statement")
}

fn end_case(at: &At<'_>, into: &mut Vec<Proposal>) {
    let body: Vec<usize> = at.source.named(at.node).filter(|one| &*at.source.node(*one).field != "value").collect();
    let Some(last) = body.last().copied().filter(|last| !leaves(at.source, *last)) else { return };
    into.push(Proposal { template: Break, weight: 1.0, edits: vec![behind(at.source, last, "break;")] });
}

fn end_block(at: &At<'_>, into: &mut Vec<Proposal>) {
    let Some(last) = at.source.named(at.node).last().filter(|last| !leaves(at.source, *last)) else { return };
    for (value, weight) in returns(at) {
        into.push(Proposal { template: Return, weight, edits: vec![behind(at.source, last, &value)] });
    }
    let loops = ["for_statement", "while_statement", "do_statement"]
        .iter()
        .any(|kind| at.source.above(at.node, kind).is_some());
    if loops {
        into.push(Proposal { template: Break, weight: 0.6, edits: vec![behind(at.source, last, "break;")] });
        into.push(Proposal { template: Break, weight: 0.5, edits: vec![behind(at.source, last, "continue;")] });
    }
}

/// Returns the return statements that the function has, or could have by its type.
pub(crate) fn returns(at: &At<'_>) -> Vec<(String, f64)> {
    let Some(function) = at.source.function(at.node) else { return Vec::new() };
    let answers = at.source.child(function, "type").map(|node| at.source.text(node)).unwrap_or_default();
    if answers == "void" {
        return vec![("return;".to_owned(), 1.0)];
    }
    let mut texts: BTreeSet<String> = BTreeSet::new();
    for one in at.source.inside(function).filter(|one| at.source.kind(*one) == "return_statement") {
        if at.symbols.all_visible(at.source, one, at.start()) && at.source.text(one).len() < 60 {
            texts.insert(at.source.text(one).to_owned());
        }
    }
    let usual: &[&str] = match answers {
        "bool" => &["return false;", "return true;"],
        "int" => &["return -1;", "return 0;"],
        _ => &["return 0;"],
    };
    texts.extend(usual.iter().map(|one| (*one).to_owned()));
    texts.into_iter().take(8).map(|text| (text, 0.8)).collect()
}

/// Proposes another returned value: one of the function's, or the opposite boolean.
pub(crate) fn returned(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() == "true" || at.kind() == "false" {
        at.instead(into, ReturnValue, 0.8, at.node, if at.kind() == "true" { "false" } else { "true" });
    }
    if at.kind() != "return_statement" {
        return;
    }
    for (other, weight) in returns(at).into_iter().filter(|(other, _)| other != at.text() && other != "return;") {
        at.instead(into, ReturnValue, weight * 0.8, at.node, other);
    }
}

/// Swaps two neighbouring statements.
pub(crate) fn swap(at: &At<'_>, into: &mut Vec<Proposal>) {
    let movable = |node: usize| matches!(at.source.kind(node), "expression_statement" | "if_statement");
    let Some(next) = next(at.source, at.node).filter(|next| movable(at.node) && movable(*next)) else { return };
    let edits = vec![at.replace(at.node, at.source.text(next)), at.replace(next, at.source.text(at.node))];
    into.push(Proposal { template: SwappedStatements, weight: 1.0, edits });
}

fn next(source: &Source, node: usize) -> Option<usize> {
    source.named(source.parent(node)).find(|one| source.node(*one).start >= source.node(node).end)
}

/// Removes a statement. It is replaced by an empty one if the surrounding statement needs one.
pub(crate) fn delete(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !matches!(
        at.kind(),
        "expression_statement" | "if_statement" | "return_statement" | "break_statement" | "continue_statement"
    ) {
        return;
    }
    let inside = matches!(at.source.kind(at.source.parent(at.node)), "compound_statement" | "case_statement");
    let node = at.source.node(at.node);
    let text = if inside { "" } else { ";" };
    let start = if inside { line_before(at.source, node.start) } else { node.start };
    into.push(Proposal {
        template: Delete,
        weight: 1.0,
        edits: vec![Edit { start, end: node.end, text: text.to_owned() }],
    });
}

/// Returns the end of the previous line, so that no empty line remains.
fn line_before(source: &Source, start: usize) -> usize {
    let before = source.text.get(..start).unwrap_or_default();
    let trimmed = before.trim_end_matches([' ', '\t']);
    if trimmed.ends_with('\n') { trimmed.len() - 1 } else { start }
}

/// Inserts a statement on a new line after another.
pub(crate) fn behind(source: &Source, node: usize, text: &str) -> Edit {
    let end = source.node(node).end;
    Edit { start: end, end, text: format!("\n{}{text}", source.indent(node)) }
}

/// Inserts a statement on a new line before another.
pub(crate) fn before(source: &Source, node: usize, text: &str) -> Edit {
    let start = source.node(node).start;
    Edit { start, end: start, text: format!("{text}\n{}", source.indent(node)) }
}

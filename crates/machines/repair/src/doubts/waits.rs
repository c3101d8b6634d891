//! Loops that wait for hardware or volatile data, and the effect of a patch on them.
//!
//! A wait is compared as a whole: its head, its exit conditions, the conditions around it, and a short body. So every
//! change, inversion, bypass or deletion makes a difference, regardless of the template or model that wrote it.

use std::collections::{BTreeMap, BTreeSet};

use super::hardware::{Hardware, function_name, macros, squeezed};
use super::{Doubt, DoubtKind};
use crate::hints::words;
use crate::source::Source;

/// The maximum number of statements of a body that is part of the wait. A longer body does other work.
const BODY_STATEMENTS_MAX: usize = 4;

/// The maximum number of characters of a loop that are shown.
const SHOWN_CHARS_MAX: usize = 80;

/// A loop that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wait {
    /// The name of the enclosing function.
    function: String,
    line: usize,
    /// The first line, as it is shown to people.
    shown: String,
    condition: String,
    /// Everything that must stay the same: head, body, exits, conditions around it, jumps before it.
    whole: String,
    /// The names in the condition and the exits.
    names: BTreeSet<String>,
}

/// Returns the doubts about a patch's effect on the waits of one file.
pub(super) fn changed(hardware: &Hardware, before: &Source, after: &Source) -> Vec<Doubt> {
    let (old, new) = (waits(hardware, before), waits(hardware, after));
    let mut left = new.clone();
    let mut found = Vec::new();
    for wait in &old {
        match left.iter().position(|other| other.function == wait.function && other.whole == wait.whole) {
            Some(at) => drop(left.remove(at)),
            None => found.push(lost(wait, &new, before, after)),
        }
    }
    found.extend(set(&old, before, after));
    found.extend(unqualified(hardware, before, after));
    found
}

/// Returns the doubt about a wait that no longer exists in its old form.
fn lost(wait: &Wait, new: &[Wait], before: &Source, after: &Source) -> Doubt {
    let loops = |source: &Source| (0..source.nodes.len()).filter(|node| is_loop(source.kind(*node))).count();
    let there: Vec<&Wait> = new.iter().filter(|other| other.function == wait.function).collect();
    let kind = if there.iter().any(|other| is_opposite(&wait.condition, &other.condition)) {
        DoubtKind::WaitInverted
    } else if loops(after) < loops(before) {
        DoubtKind::WaitRemoved
    } else {
        DoubtKind::WaitChanged
    };
    let what = match kind {
        DoubtKind::WaitInverted => "now waits for the opposite",
        DoubtKind::WaitRemoved => "is removed",
        _ => "is changed",
    };
    let why = format!("the wait on hardware or volatile data `{}` {what}", wait.shown);
    Doubt { kind, path: before.path.clone(), line: wait.line, why }
}

/// Returns true if one condition is the negation of the other: one `!` more or less, or the opposite comparison.
fn is_opposite(one: &str, other: &str) -> bool {
    let bare = |text: &str| -> String { text.chars().filter(|letter| !"!()".contains(*letter)).collect() };
    let flipped = |text: &str| text.replace("==", "\u{1}").replace("!=", "==").replace('\u{1}', "!=");
    let compared = |text: &str| {
        // Placeholders come first, so that replaced text is not replaced again.
        let pairs = [("<=", "\u{1}"), (">=", "\u{2}"), ("<", "\u{3}"), (">", "\u{4}")];
        let pairs = pairs.iter().chain(&[("\u{1}", ">"), ("\u{2}", "<"), ("\u{3}", ">="), ("\u{4}", "<=")]);
        pairs.fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    one != other
        && (bare(one) == bare(other)
            || bare(&flipped(one)) == bare(other)
            || bare(&flipped(other)) == bare(one)
            || compared(one) == other)
}

/// Returns doubts about names that lose `volatile` although they are still declared.
fn unqualified(hardware: &Hardware, before: &Source, after: &Source) -> Vec<Doubt> {
    let names = |source: &Source| -> BTreeMap<String, usize> {
        let all = (0..source.nodes.len()).flat_map(|node| {
            let line = source.node(node).line;
            hardware.declared_at(source, node).into_iter().map(move |name| (name, line))
        });
        all.collect()
    };
    let (old, new) = (names(before), names(after));
    let is_there = |name: &str| words(&after.text).any(|word| word == name);
    let lost = old.into_iter().filter(|(name, _)| !new.contains_key(name) && is_there(name));
    let doubt = |(name, line): (String, usize)| Doubt {
        kind: DoubtKind::WaitChanged,
        path: before.path.clone(),
        line,
        why: format!("`{name}` is not volatile any more"),
    };
    lost.map(doubt).collect()
}

/// Returns doubts about new assignments, in the function of a wait, to data that the wait reads: the wait would then
/// depend only on itself.
fn set(waits: &[Wait], before: &Source, after: &Source) -> Vec<Doubt> {
    let mut found = Vec::new();
    for wait in waits {
        let of = |source: &Source| -> Vec<(String, usize)> {
            let Some(function) = function_named(source, &wait.function) else { return Vec::new() };
            let targets = source.inside(function).filter_map(|node| Some((node, assigned(source, node)?)));
            let targets = targets.filter(|(_, name)| wait.names.contains(*name));
            targets.map(|(node, _)| (squeezed(source.text(node)), source.node(node).line)).collect()
        };
        let old: Vec<String> = of(before).into_iter().map(|(text, _)| text).collect();
        for (text, line) in of(after).into_iter().filter(|(text, _)| !old.contains(text)) {
            let why = format!("`{text}` sets what `{}` waits for", wait.shown);
            found.push(Doubt { kind: DoubtKind::WaitChanged, path: after.path.clone(), line, why });
        }
    }
    found
}

/// Returns the last name in the target of an assignment.
fn assigned(source: &Source, node: usize) -> Option<&str> {
    let target = match source.kind(node) {
        "assignment_expression" => source.child(node, "left"),
        "update_expression" => source.child(node, "argument"),
        _ => None,
    }?;
    words(source.text(target).split('[').next().unwrap_or_default()).last()
}

/// Returns doubts about waits in any file whose registers, masks or readers a patch redefines.
pub(super) fn redefined(hardware: &Hardware, sources: &[Source], pairs: &[(Source, Source)]) -> Vec<Doubt> {
    let waits: Vec<Wait> = sources.iter().flat_map(|source| waits(hardware, source)).collect();
    let used: BTreeSet<&str> = waits.iter().flat_map(|wait| wait.names.iter().map(String::as_str)).collect();
    // A macro in a wait may itself consist of other macros.
    let inner = used.iter().filter_map(|name| hardware.macros.get(*name)).flat_map(|value| words(value));
    let used: BTreeSet<&str> = used.iter().copied().chain(inner).collect();
    let mut found = Vec::new();
    for (before, after) in pairs {
        let new: BTreeMap<String, String> = macros(after).into_iter().collect();
        let lost = macros(before)
            .into_iter()
            .filter(|(name, value)| used.contains(name.as_str()) && new.get(name).is_none_or(|other| other != value));
        found.extend(lost.map(|(name, _)| defined_anew(before, &name, "macro")));
        let readers = hardware.readers.iter().filter(|(name, _)| used.contains(name.as_str()));
        let lost = readers.filter(|(name, text)| {
            function_named(before, name).is_some()
                && function_named(after, name).is_none_or(|function| squeezed(after.text(function)) != **text)
        });
        found.extend(lost.map(|(name, _)| defined_anew(before, name, "function")));
    }
    found
}

fn defined_anew(before: &Source, name: &str, what: &str) -> Doubt {
    let line = before.text.lines().position(|line| words(line).any(|word| word == name)).map_or(1, |at| at + 1);
    let why = format!("a wait on hardware or volatile data reads the {what} `{name}`, which is changed");
    Doubt { kind: DoubtKind::WaitChanged, path: before.path.clone(), line, why }
}

fn function_named(source: &Source, name: &str) -> Option<usize> {
    let functions = (0..source.nodes.len()).filter(|node| source.kind(*node) == "function_definition");
    functions.into_iter().find(|function| function_name(source, *function) == Some(name))
}

fn is_loop(kind: &str) -> bool {
    matches!(kind, "while_statement" | "do_statement" | "for_statement")
}

/// Returns every wait of a file.
fn waits(hardware: &Hardware, source: &Source) -> Vec<Wait> {
    let mut local: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for node in (0..source.nodes.len()).filter(|node| is_loop(source.kind(*node))) {
        let Some(function) = source.function(node) else { continue };
        let local = local.entry(function).or_insert_with(|| hardware.local(source, function));
        found.extend(wait(hardware, source, node, function, local));
    }
    found
}

/// Returns a loop as a wait if it is one: its condition or an exit reads hardware, or it does nothing until another
/// context changes something.
fn wait(hardware: &Hardware, source: &Source, node: usize, function: usize, local: &BTreeSet<String>) -> Option<Wait> {
    let condition = source.child(node, "condition");
    let exits = exits(source, node);
    let reads = |at: &usize| hardware.is_in(source, *at, local);
    let is_wait = condition.iter().any(reads) || exits.iter().any(reads) || is_spin(source, node);
    if !is_wait {
        return None;
    }
    let text = condition.map(|condition| squeezed(source.text(condition))).unwrap_or_default();
    let shown: String =
        source.text(node).lines().next().unwrap_or_default().trim().chars().take(SHOWN_CHARS_MAX).collect();
    let looked = condition.iter().chain(&exits).flat_map(|at| words(source.text(*at)));
    Some(Wait {
        function: function_name(source, function).unwrap_or_default().to_owned(),
        line: source.node(node).line,
        shown,
        condition: text,
        whole: whole(source, node, function, &exits),
        names: looked.map(str::to_owned).collect(),
    })
}

/// Returns the conditions in a loop's body on which it exits.
fn exits(source: &Source, node: usize) -> Vec<usize> {
    let Some(body) = source.child(node, "body") else { return Vec::new() };
    let leaves = |at: usize| matches!(source.kind(at), "break_statement" | "return_statement" | "goto_statement");
    let conditions = source.inside(body).filter(|at| source.kind(*at) == "if_statement");
    let leaving = conditions.filter(|at| source.inside(*at).any(leaves));
    leaving.filter_map(|at| source.child(at, "condition")).collect()
}

/// Returns true if a loop only polls: no work in its body, no call and no assignment in its condition.
fn is_spin(source: &Source, node: usize) -> bool {
    let has_work = |at: usize| {
        matches!(source.kind(at), "call_expression" | "assignment_expression" | "update_expression" | "declaration")
    };
    let is_empty = source.child(node, "body").is_some_and(|body| {
        !source.inside(body).any(|at| source.kind(at) == "expression_statement" && source.text(at) != ";")
            && !source.inside(body).any(has_work)
    });
    let is_constant =
        |text: &str| text.chars().all(|letter| !letter.is_ascii_alphabetic() || "xuXUlL".contains(letter));
    let condition = source.child(node, "condition");
    let asks = condition.is_some_and(|at| !source.inside(at).any(has_work) && !is_constant(source.text(at)));
    is_empty && asks && source.child(node, "update").is_none()
}

/// Returns the text that identifies a wait in comparisons.
fn whole(source: &Source, node: usize, function: usize, exits: &[usize]) -> String {
    let mut parts = vec![source.kind(node).to_owned()];
    for field in ["initializer", "condition", "update"] {
        parts.extend(source.child(node, field).map(|at| squeezed(source.text(at))));
    }
    parts.extend(exits.iter().map(|at| squeezed(source.text(*at))));
    if let Some(body) = source.child(node, "body") {
        let is_statement = |at: &usize| source.kind(*at).ends_with("_statement") && *at != body;
        if source.inside(body).filter(is_statement).count() <= BODY_STATEMENTS_MAX {
            parts.push(squeezed(source.text(body)));
        }
        let jumps = source.inside(body).filter(|at| is_jump(source.kind(*at))).count();
        parts.push(format!("{jumps} ways out"));
    }
    let around = source.ancestors(node).take_while(|up| *up != function);
    parts.extend(around.filter_map(|up| source.child(up, "condition")).map(|at| squeezed(source.text(at))));
    let start = source.node(node).start;
    let before = source.inside(function).filter(|at| is_jump(source.kind(*at)) && source.node(*at).end <= start);
    parts.push(format!("{} jumps before", before.count()));
    parts.join("\u{1f}")
}

fn is_jump(kind: &str) -> bool {
    matches!(kind, "break_statement" | "return_statement" | "goto_statement" | "continue_statement")
}

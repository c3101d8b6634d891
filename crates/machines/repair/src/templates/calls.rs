//! Calls: swapped arguments, another function with the same signature, matching formats.

use super::{At, Proposal};
use crate::declared::fits;
use crate::template::Template::{Format, Function, SwappedArguments};

/// Proposes a call with two arguments swapped.
pub(crate) fn arguments(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "argument_list" {
        return;
    }
    let all: Vec<usize> = at.source.named(at.node).collect();
    for (index, first) in all.iter().copied().enumerate() {
        for (distance, second) in all.iter().copied().skip(index + 1).enumerate().take(3) {
            let kinds = (at.symbols.kind_of(at.source, first), at.symbols.kind_of(at.source, second));
            if let (Some(a), Some(b)) = &kinds
                && !fits(a, b)
            {
                continue;
            }
            let known = if kinds.0.is_some() && kinds.0 == kinds.1 { 1.0 } else { 0.6 };
            let edits = vec![at.replace(first, at.source.text(second)), at.replace(second, at.source.text(first))];
            let weight = if distance == 0 { known } else { known * 0.6 };
            into.push(Proposal { template: SwappedArguments, weight, edits });
        }
    }
}

/// Replaces a function, called or named, by another with the same signature.
pub(crate) fn function(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "identifier" || !at.in_function() || &*at.source.node(at.node).field == "declarator" {
        return;
    }
    let Some(this) = at.symbols.functions.get(at.text()) else { return };
    let others = at.symbols.functions.iter().filter(|(name, other)| {
        *name != at.text() && *other == this && at.symbols.sees_function(&at.source.path, name)
    });
    let weight = if &*at.source.node(at.node).field == "function" { 0.7 } else { 1.0 };
    others.take(8).for_each(|(name, _)| at.instead(into, Function, weight, at.node, name.clone()));
}

/// Replaces the common wrong conversions of a format.
pub(crate) fn format(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "string_literal" || !at.text().contains('%') {
        return;
    }
    const PAIRS: [(&str, &str); 10] = [
        ("%d", "%u"),
        ("%u", "%d"),
        ("%d", "%ld"),
        ("%u", "%lu"),
        ("%x", "%lx"),
        ("%d", "%s"),
        ("%s", "%d"),
        ("%c", "%d"),
        ("%x", "%d"),
        ("%d", "%x"),
    ];
    for (old, new) in PAIRS {
        let Some(found) = at.text().find(old) else { continue };
        let mut text = at.text().to_owned();
        text.replace_range(found..found + old.len(), new);
        at.instead(into, Format, 0.8, at.node, text);
    }
}

//! The targets of a Makefile. Only targets that the file itself names are found: included files and pattern rules are not
//! read.

use crate::{Kind, files::Files, table::Found};

/// The targets that verify, with their kinds.
const TARGETS: [(&str, Kind); 6] = [
    ("lint", Kind::Static),
    ("analyze", Kind::Static),
    ("check", Kind::Test),
    ("build", Kind::Build),
    ("tests", Kind::Test),
    ("test", Kind::Test),
];

/// Returns a command for each verifying target that exists. `test` is preferred to `tests`, and both to `check`.
pub(crate) fn targets(_: &Files<'_>, text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (name, kind) in TARGETS.iter().rev() {
        let is_known = *kind == Kind::Test && found.iter().any(|found| found.kind == Kind::Test);
        if let Some(rule) = rule(text, name).filter(|_| !is_known) {
            found.push(Found::new(*kind, format!("make {name}")).defined(rule));
        }
    }
    found.reverse();
    found
}

/// Returns the text of a target's rule: its line, and the recipe below it.
fn rule(text: &str, target: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !names(line, target));
    let first = lines.next()?;
    let recipe = lines.take_while(|line| line.starts_with('\t') || line.trim().is_empty() || line.starts_with('#'));
    let recipe = recipe.filter(|line| line.starts_with('\t'));
    Some(std::iter::once(first).chain(recipe).collect::<Vec<_>>().join("\n"))
}

/// Returns true if a line begins the rule of a target. An assignment (`test := x`) does not.
fn names(line: &str, target: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else { return false };
    let is_assignment = rest.starts_with('=') || rest.starts_with(":=") || targets.contains('=');
    !is_assignment && !line.starts_with(['\t', '#']) && targets.split_whitespace().any(|word| word == target)
}

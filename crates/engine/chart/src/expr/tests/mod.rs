//! Tests of expressions: tables of texts with their expected results.

mod check;
mod parse;
mod robustness;
mod types;

use super::{Expr, Names, Node, Root, Unary, operators};
use crate::{Diagnostic, Span};

/// The start of the test texts in an imaginary file, which reveals spans that ignore the offset.
const START: u32 = 100;

fn span(source: &str) -> Span {
    Span { start: START, end: START + u32::try_from(source.len()).unwrap() }
}

fn read(source: &str) -> Result<Expr, Vec<Diagnostic>> {
    let states = ["IDLE", "TESTING", "TEST_SETUP", "odd-name"].map(str::to_owned);
    let counters = ["fixes", "retries"].map(str::to_owned);
    super::parse(source, span(source), &Names { states: &states, counters: &counters })
}

/// Formats a problem as two lines: carets under the text, then code, message and hint.
fn show_problems(source: &str, problems: &[Diagnostic]) -> String {
    let mut shown = format!("{source}\n");
    for problem in problems {
        let start = usize::try_from(problem.span.start.checked_sub(START).unwrap()).unwrap();
        let end = usize::try_from(problem.span.end - START).unwrap();
        let column = source[..start].chars().count();
        let width = source[start..end].chars().count().max(1);
        let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        shown += &format!("{}{}\n{} {}{hint}\n", " ".repeat(column), "^".repeat(width), problem.code, problem.message);
    }
    shown
}

/// Formats a tree in prefix notation.
fn show(node: &Node) -> String {
    let all = |nodes: &[&Node]| nodes.iter().map(|node| format!(" {}", show(node))).collect::<String>();
    match node {
        Node::Literal(value) => serde_json::to_string(value).unwrap(),
        Node::Path(root, path) => show_path(*root, path),
        Node::Visits(id) => format!("visits#{}", id.0),
        Node::Active(id) => format!("active#{}", id.0),
        Node::Count(id) => format!("count#{}", id.0),
        Node::Has(root, path) => format!("has({})", show_path(*root, path)),
        Node::Unary(Unary::Not, operand) => format!("(not{})", all(&[operand])),
        Node::Unary(Unary::Negate, operand) => format!("(negate{})", all(&[operand])),
        Node::Binary(operator, left, right) => format!("({}{})", operators::sign(*operator), all(&[left, right])),
        Node::If(condition, yes, no) => format!("(if{})", all(&[condition, yes, no])),
        Node::Index(operand, index) => format!("(index{})", all(&[operand, index])),
        Node::Field(operand, name) => format!("(field{} {name})", all(&[operand])),
        Node::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" ")),
        Node::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", show(key), show(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(" "))
        }
        Node::Size(operand) => format!("(size{})", all(&[operand])),
        Node::Opaque(paths) => {
            let paths = paths.iter().map(|(root, path)| format!(" {}", show_path(*root, path)));
            format!("opaque{}", paths.collect::<String>())
        }
    }
}

fn show_path(root: Root, path: &[String]) -> String {
    let root = format!("{root:?}").to_lowercase();
    path.iter().fold(root, |path, name| format!("{path}.{name}"))
}

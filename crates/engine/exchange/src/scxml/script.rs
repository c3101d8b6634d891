//! Scripts that only assign: `x = x + 1; var y = 2, z; y++`. They are equivalent to a sequence of `<assign>`. Any other
//! script needs a script engine and is refused.

use roxmltree::Node;

use super::import::{Importer, tag_span};
use crate::expression::{self, Kind, Token, scan};
use interlock_chart::file::{ActionFile, Ordered};

/// Keywords that begin a declaration.
const DECLARATIONS: [&str; 3] = ["var", "let", "const"];
/// Keywords that begin another statement or are not legal names.
const RESERVED: [&str; 16] = [
    "function", "if", "else", "for", "while", "do", "return", "switch", "try", "throw", "new", "delete", "break",
    "continue", "class", "this",
];

/// One variable and its new value as the script writes it. A bare declaration has no value.
type Assignment = (String, Option<String>);

impl Importer {
    /// Returns the assignments of a `<script>`.
    pub(super) fn script(&mut self, node: Node<'_, '_>) -> Vec<ActionFile> {
        let Some(assignments) = self.script_text(node).and_then(|script| assignments(&script)) else {
            self.refuse(node, tag_span(node), "needs a script engine");
            return Vec::new();
        };
        assignments.into_iter().filter_map(|assignment| self.scripted(node, assignment)).collect()
    }

    /// Returns the text of a `<script>`, inline or from a file, or `None` if the file is missing.
    fn script_text(&self, node: Node<'_, '_>) -> Option<String> {
        match node.attribute("src") {
            Some(file) => self.files.get(file).cloned(),
            None => Some(node.text().unwrap_or_default().to_owned()),
        }
    }

    /// Returns the variables that a `<script>` assigns to or declares.
    pub(super) fn script_variables(&self, node: Node<'_, '_>) -> Vec<String> {
        let assignments = self.script_text(node).and_then(|script| assignments(&script));
        assignments.unwrap_or_default().into_iter().map(|(name, _)| name).collect()
    }

    fn scripted(&mut self, node: Node<'_, '_>, (name, value): Assignment) -> Option<ActionFile> {
        let value = self.translated(&value?, tag_span(node), node)?;
        let value = expression::template(&value);
        self.assigned.entry(name.clone()).or_default().push(value.clone());
        Some(ActionFile::Assign { assign: Ordered::from([(name, value)]) })
    }
}

/// Returns the assignments of a script, or `None` if it contains any other statement.
fn assignments(script: &str) -> Option<Vec<Assignment>> {
    let source = without_comments(script)?;
    let tokens = scan(&source)?;
    let mut reader = Reader { source: &source, tokens: &tokens, at: 0 };
    let mut found = Vec::new();
    while reader.at < tokens.len() {
        if reader.text(0) == ";" {
            reader.at += 1;
            continue;
        }
        let declares = DECLARATIONS.contains(&reader.text(0));
        reader.at += usize::from(declares);
        found.push(reader.assignment(declares)?);
        while reader.text(0) == "," {
            reader.at += 1;
            found.push(reader.assignment(declares)?);
        }
        if !(reader.text(0) == ";" || reader.at == tokens.len() || reader.is_on_new_line(reader.at)) {
            return None;
        }
    }
    Some(found)
}

/// Returns the script without comments, or `None` if a comment or a string is unterminated.
fn without_comments(script: &str) -> Option<String> {
    let mut out = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find(['/', '\'', '"']) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        let length = if tail.starts_with("//") {
            tail.find('\n').unwrap_or(tail.len())
        } else if tail.starts_with("/*") {
            tail.find("*/")? + 2
        } else {
            let length = if tail.starts_with('/') { 1 } else { scan_text(tail)? };
            out.push_str(&tail[..length]);
            length
        };
        rest = &tail[length..];
    }
    out.push_str(rest);
    Some(out)
}

/// Returns the length of the string at the start of `tail`.
fn scan_text(tail: &str) -> Option<usize> {
    let quote = tail.chars().next()?;
    expression::text_length(tail, quote)
}

struct Reader<'a> {
    source: &'a str,
    tokens: &'a [Token<'a>],
    at: usize,
}

impl Reader<'_> {
    fn text(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    fn assignment(&mut self, declares: bool) -> Option<Assignment> {
        let name = *self.tokens.get(self.at)?;
        if name.kind != Kind::Word || RESERVED.contains(&name.text) || DECLARATIONS.contains(&name.text) {
            return None;
        }
        self.at += 1;
        let name = name.text.to_owned();
        let value = match (self.text(0), self.text(1)) {
            ("+", "+") | ("-", "-") => {
                let sign = self.text(0).to_owned();
                self.at += 2;
                Some(format!("{name} {sign} 1"))
            }
            (sign @ ("+" | "-" | "*"), "=") => {
                let sign = sign.to_owned();
                self.at += 2;
                let value = self.value()?;
                Some(format!("{name} {sign} ({value})"))
            }
            ("=", next) if next != "=" => {
                self.at += 1;
                Some(self.value()?.to_owned())
            }
            _ if declares => None,
            _ => return None,
        };
        Some((name, value))
    }

    /// Returns the expression up to the end of the statement or the next comma.
    fn value(&mut self) -> Option<&str> {
        let from = self.at;
        let mut depth = 0_usize;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                ";" | "," if depth == 0 => break,
                _ if depth == 0 && self.at > from && self.is_on_new_line(self.at) => break,
                _ => {}
            }
            self.at += 1;
        }
        let (first, last) = (self.tokens.get(from)?, self.tokens.get(self.at.checked_sub(1)?)?);
        self.source.get(first.start..last.start + last.text.len()).filter(|_| self.at > from)
    }

    /// Returns true if a statement may begin here without a semicolon: a name on a new line after a complete
    /// expression.
    fn is_on_new_line(&self, at: usize) -> bool {
        let (Some(before), Some(token)) = (at.checked_sub(1).map(|at| self.tokens[at]), self.tokens.get(at)) else {
            return false;
        };
        let gap = &self.source[before.start + before.text.len()..token.start];
        let is_step = matches!(before.text, "+" | "-") && at >= 2 && self.tokens[at - 2].text == before.text;
        let complete = before.kind != Kind::Mark || is_step || matches!(before.text, ")" | "]" | "}");
        token.kind == Kind::Word && !matches!(token.text, "in" | "instanceof") && complete && gap.contains('\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> Option<String> {
        let assignments = assignments(script)?;
        let shown = assignments.into_iter().map(|(name, value)| match value {
            Some(value) => format!("{name} := {value}"),
            None => name,
        });
        Some(shown.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn scripts_that_only_assign_are_imported() {
        let cases = [
            ("x = 100;", "x := 100"),
            ("x = x + 1\ny = [1, 2]\n", "x := x + 1; y := [1, 2]"),
            ("x += 1; y *= a + b", "x := x + (1); y := y * (a + b)"),
            ("x++; y--", "x := x + 1; y := y - 1"),
            ("x++\ny = 1", "x := x + 1; y := 1"),
            ("var a = 4; // four\nvar b = 5, /* both */ c = 1,\n d;", "a := 4; b := 5; c := 1; d"),
            ("x = 'a // b'", "x := 'a // b'"),
            ("x = a +\n b", "x := a +\n b"),
            ("", ""),
        ];
        for (script, expected) in cases {
            assert_eq!(shown(script).as_deref(), Some(expected), "{script}");
        }
    }

    #[test]
    fn other_scripts_need_a_script_engine() {
        for script in ["foo()", "function f() {}", "if (x) y = 1", "x.y = 1", "x == 1", "x", "x = ", "var", "/* x"] {
            assert_eq!(shown(script), None, "{script}");
        }
    }
}

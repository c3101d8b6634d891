//! Breaks source texts on purpose: a check that stays green does not look at them.

use std::collections::BTreeSet;

use interlock_codemap::{Function, functions};

/// A line that no language accepts.
const NONSENSE: &str = ")]} broken on purpose by interlock";

/// The ways to break a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// The text cannot be read: whoever loads or compiles it fails.
    Syntax,
    /// The changed functions stop at their first statement: whoever calls them fails.
    Stop,
}

/// Makes a text unreadable for its language.
pub(crate) fn unreadable(path: &str, text: &str) -> String {
    let nonsense = if path.ends_with(".php") { format!("<?php {NONSENSE}") } else { NONSENSE.to_owned() };
    match text.split_once('\n') {
        // The first line names the program that reads the rest.
        Some((first, rest)) if first.starts_with("#!") => format!("{first}\n{nonsense}\n{rest}"),
        _ => format!("{nonsense}\n{text}"),
    }
}

/// Stops every function that has a changed line; `None` if there is none or the language has no such statement. `before`
/// is the text that the change began with.
pub(crate) fn stopped(path: &str, before: &str, text: &str) -> Option<String> {
    let found = changed_functions(path, before, text);
    let statement = statement(path).filter(|_| !found.is_empty())?;
    let stop = |broken: String, function: Function| inserted(&broken, path, function.first_statement, statement);
    Some(found.into_iter().rev().fold(text.to_owned(), stop))
}

/// Breaks the changed functions one by one: each text has one function that returns a wrong value or, if none is known for
/// its type, stops.
pub(crate) fn broken_one_by_one(path: &str, before: &str, text: &str) -> Vec<String> {
    let broken = changed_functions(path, before, text).into_iter().flat_map(|function| {
        let mut statements = wrong_values(path, text, function.returns.trim());
        if statements.is_empty() {
            statements.extend(statement(path).map(str::to_owned));
        }
        let place = function.first_statement;
        statements.into_iter().map(|statement| inserted(text, path, place, &statement)).collect::<Vec<_>>()
    });
    broken.collect()
}

/// Returns the functions that have a changed line, in order.
fn changed_functions(path: &str, before: &str, text: &str) -> Vec<Function> {
    let changed = changed_lines(before, text);
    let functions = match is_shell(path, text) {
        true => shell_functions(text),
        false => functions(path, text).unwrap_or_default(),
    };
    let is_changed = |function: &Function| changed.range(function.lines.clone()).next().is_some();
    let mut found: Vec<Function> = functions.into_iter().filter(is_changed).collect();
    found.sort_by_key(|function| function.first_statement);
    found.dedup_by_key(|function| function.first_statement);
    found
}

/// Returns true if a shell reads this text.
fn is_shell(path: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((_, extension)) => ["sh", "bash", "zsh", "ksh"].contains(&extension),
        None => first.starts_with("#!") && first.ends_with("sh"),
    }
}

/// Returns the functions of a shell script whose braces stand where people put them: `name() {` and, alone, `}`.
fn shell_functions(text: &str) -> Vec<Function> {
    let (mut found, mut place) = (Vec::new(), 0);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (number, line) in lines.iter().enumerate() {
        let head = line.trim_end();
        let name = head.trim_start().trim_start_matches("function ").trim_end_matches('{').trim_end();
        let is_head = head.ends_with('{') && (name.ends_with("()") || head.trim_start().starts_with("function "));
        if is_head && !name.contains([' ', '$', '=']) {
            let indentation = &line[..line.len() - line.trim_start().len()];
            let end = lines[number..].iter().position(|line| line.trim_end() == format!("{indentation}}}"));
            let end = end.map_or(lines.len(), |count| number + count + 1);
            let returns = String::new();
            found.push(Function { lines: number..end, first_statement: place + head.len(), returns });
        }
        place += line.len();
    }
    found
}

/// Returns the statements that return a value which no caller expects. Without types there are two, a text and a number: a
/// test that only looks at the type notices one of them.
fn wrong_values(path: &str, text: &str, returns: &str) -> Vec<String> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let number = match extension {
        "py" => Some("return 97.25".to_owned()),
        "js" | "jsx" | "mjs" | "cjs" => Some(" return 97.25;".to_owned()),
        _ => None,
    };
    wrong_value(path, text, returns).into_iter().chain(number).collect()
}

/// Returns the statement that returns a wrong value; `None` if the type is too special for that.
fn wrong_value(path: &str, text: &str, returns: &str) -> Option<String> {
    if is_shell(path, text) {
        return Some("\necho 'broken on purpose by interlock'; return 97\n".to_owned());
    }
    let value = match path.rsplit_once('.')?.1 {
        "py" => return Some("return 'broken on purpose by interlock'".to_owned()),
        "js" | "jsx" | "mjs" | "cjs" => "'broken on purpose by interlock'",
        "ts" | "tsx" | "mts" | "cts" => "'broken on purpose by interlock' as any",
        "rs" => match returns {
            "String" => "String::from(\"broken on purpose by interlock\")",
            "&str" | "&'static str" => "\"broken on purpose by interlock\"",
            "f32" | "f64" => "97.25",
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "97",
            _ if returns.starts_with("Option<") => "None",
            _ if returns.starts_with("Vec<") => "Vec::new()",
            _ => return None,
        },
        "go" => match returns {
            "string" => "\"broken on purpose by interlock\"",
            "int" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32" | "uint64"
            | "float32" | "float64" => "97",
            _ if returns.starts_with("[]") || returns.starts_with("map[") => "nil",
            _ => return None,
        },
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "java" | "dart" => match returns {
            "int" | "long" | "short" | "unsigned" | "unsigned int" | "unsigned long" | "size_t" | "ssize_t"
            | "int8_t" | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t" | "uint64_t"
            | "float" | "double" => "97",
            "String" => "\"broken on purpose by interlock\"",
            _ => return None,
        },
        _ => return None,
    };
    // Java refuses statements after a plain `return`.
    let condition = if path.ends_with(".java") { "if (true) " } else { "" };
    Some(format!(" {condition}return {value};"))
}

/// Returns the statement that ends a program of this language with a failure.
fn statement(path: &str) -> Option<&'static str> {
    let extension = path.rsplit_once('.')?.1;
    Some(match extension {
        "py" => "raise SystemError('broken on purpose by interlock')",
        "rs" => " panic!(\"broken on purpose by interlock\");",
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => {
            " throw new Error('broken on purpose by interlock');"
        }
        "go" => " panic(\"broken on purpose by interlock\");",
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => " __builtin_trap();",
        "java" => " if (true) throw new IllegalStateException(\"broken on purpose by interlock\");",
        "dart" => " throw StateError('broken on purpose by interlock');",
        _ => return None,
    })
}

/// Inserts a statement. In Python it needs a line of its own with the indentation of the block.
fn inserted(text: &str, path: &str, place: usize, statement: &str) -> String {
    let line = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let indentation = text[line..place].chars().take_while(|letter| letter.is_whitespace()).collect::<String>();
    let end = if path.ends_with(".py") { format!("\n{indentation}") } else { String::new() };
    format!("{}{statement}{end}{}", &text[..place], &text[place..])
}

/// Returns the lines of the new text, from 0, that the change added, and those next to removed ones.
fn changed_lines(before: &str, after: &str) -> BTreeSet<usize> {
    let diff = similar::TextDiff::from_lines(before, after);
    let mut lines = BTreeSet::new();
    for operation in diff.ops() {
        let new = operation.new_range();
        match operation.tag() {
            similar::DiffTag::Equal => {}
            // The line before is in the same function, unless the whole function was removed.
            similar::DiffTag::Delete => drop(lines.insert(new.start.saturating_sub(1))),
            similar::DiffTag::Insert | similar::DiffTag::Replace => lines.extend(new),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_functions_are_stopped() {
        let before = "def a():\n    return 1\n\ndef b():\n    return 2\n";
        let after = "def a():\n    return 1\n\ndef b():\n    return 3\n";
        let broken = stopped("m.py", before, after);
        assert_eq!(
            broken.as_deref(),
            Some(
                "def a():\n    return 1\n\ndef b():\n    raise SystemError('broken on purpose by interlock')\n    return 3\n"
            )
        );
        assert_eq!(stopped("m.py", after, after), None);
        let wrong = "def a():\n    return 1\n\ndef b():\n    return 'broken on purpose by interlock'\n    return 3\n";
        let number = wrong.replace("'broken on purpose by interlock'", "97.25");
        assert_eq!(broken_one_by_one("m.py", before, after), [wrong.to_owned(), number]);
        assert_eq!(stopped("table.csv", "", "a"), None);
    }

    #[test]
    fn functions_of_shell_scripts_return_a_wrong_value() {
        let before = "trim() {\n    echo \"$1\"\n}\nother() {\n    :\n}\n";
        let after = "trim() {\n    echo \"$2\"\n}\nother() {\n    :\n}\n";
        let expected =
            "trim() {\necho 'broken on purpose by interlock'; return 97\n\n    echo \"$2\"\n}\nother() {\n    :\n}\n";
        assert_eq!(broken_one_by_one("lib.sh", before, after), [expected]);
    }

    #[test]
    fn the_first_line_of_a_script_stays() {
        assert_eq!(unreadable("run", "#!/bin/sh\necho\n"), format!("#!/bin/sh\n{NONSENSE}\necho\n"));
    }
}

//! Breaks source texts on purpose: a check that stays green does not look at them.
//!
//! What is inserted stands behind a condition that is always true. Its twin has the same words behind a condition that is
//! never true. A formatter, a linter or a compiler treats both alike, so only a check that runs the code tells them apart.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
};

use interlock_codemap::{BranchKind, Function, blocks, branches, functions};

/// The word and the number of the statements below. What is inserted has others in every text, so that no check can look for
/// them.
const WORD: &str = "WORD";
const NUMBER: &str = "97";

/// Stand for the word, the number, the operator and the bound of a text, until it has all of them. No source has them.
const WORD_MARK: char = '\u{5}';
const NUMBER_MARK: char = '\u{6}';
const OPERATOR: char = '\u{1}';
const BOUND: char = '\u{7}';

/// Puts the marks for the word and the number into a statement.
pub(super) fn marked(statement: &str) -> String {
    statement.replace(WORD, &WORD_MARK.to_string()).replace(NUMBER, &NUMBER_MARK.to_string())
}

/// What one text has for its marks.
pub(super) struct Marks {
    word: String,
    number: String,
    operator: &'static str,
    bound: String,
}

impl Marks {
    /// Draws marks. With them, a condition that compares the length of the word with the bound is true or false; that of a
    /// shell compares the word with the bound. Equality is left out: some linters refuse it.
    fn random(is_taken: bool, is_shell: bool) -> Self {
        let random = RandomState::new();
        let draw = |what: &str, below: usize| usize::try_from(random.hash_one(what) % below as u64).unwrap_or_default();
        let letters = format!("{:016x}{:016x}", random.hash_one(1), random.hash_one(2));
        let first = ["g", "h", "k", "m", "p", "q", "v", "w", "x", "z"][draw("first", 10)];
        let word = format!("{first}{}", &letters[..7 + draw("length", 16)]);
        let number = (80 + draw("number", 40)).to_string();
        let (coin, other) = (draw("side", 2) == 0, draw("operator", 2));
        if is_shell {
            let bound = if coin { word.clone() } else { format!("{word}{first}") };
            let operator = if coin == is_taken { "=" } else { "!=" };
            return Marks { word, number, operator, bound };
        }
        // The bound is apart from the length: some languages count one byte more.
        let length = word.len();
        let bound = if coin { length + 3 + draw("bound", 20) } else { length - 3 - draw("bound", length - 5) };
        let operators = if coin == is_taken { ["<", "<="] } else { [">", ">="] };
        Marks { word, number, operator: operators[other], bound: bound.to_string() }
    }

    #[cfg(not(test))]
    fn drawn(is_taken: bool, is_shell: bool) -> Self {
        Marks::random(is_taken, is_shell)
    }

    /// Tests compare whole texts.
    #[cfg(test)]
    fn drawn(is_taken: bool, is_shell: bool) -> Self {
        let (operator, bound) = match (is_taken, is_shell) {
            (true, true) => ("!=", ""),
            (false, true) => ("=", ""),
            (true, false) => (">", "9"),
            (false, false) => ("<", "9"),
        };
        Marks { word: "x0123456789abcdef".to_owned(), number: "97".to_owned(), operator, bound: bound.to_owned() }
    }

    fn fill(&self, text: &str) -> String {
        let marks = [
            (WORD_MARK, self.word.as_str()),
            (NUMBER_MARK, &self.number),
            (OPERATOR, self.operator),
            (BOUND, &self.bound),
        ];
        marks.into_iter().fold(text.to_owned(), |text, (mark, value)| text.replace(mark, value))
    }
}

/// Returns a statement with a word and a number of its own.
pub(super) fn filled(statement: &str) -> String {
    Marks::drawn(true, false).fill(&marked(statement))
}

/// A text that was broken, and its twin, which does the same as the text itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) text: String,
    pub(crate) twin: String,
}

impl Broken {
    /// Makes both from a text with marks.
    pub(super) fn of(path: &str, original: &str, changed: &str) -> Self {
        let with = |is_taken: bool| Marks::drawn(is_taken, is_shell(path, original)).fill(changed);
        Broken { text: with(true), twin: with(false) }
    }
}

/// Returns a line that no language accepts.
fn nonsense() -> String {
    filled(")]} WORD")
}

/// Makes a text unreadable for its language.
pub(crate) fn unreadable(path: &str, text: &str) -> String {
    let nonsense = if path.ends_with(".php") { format!("<?php {}", nonsense()) } else { nonsense() };
    match text.split_once('\n') {
        // The first line names the program that reads the rest.
        Some((first, rest)) if first.starts_with("#!") => format!("{first}\n{nonsense}\n{rest}"),
        _ => format!("{nonsense}\n{text}"),
    }
}

/// Stops every function that has a changed line; `None` if there is none or the language has no such statement. `before`
/// is the text that the change began with.
pub(crate) fn stopped(path: &str, before: &str, text: &str) -> Option<Broken> {
    let found = changed_functions(path, before, text);
    let statement = statement(path, text).filter(|_| !found.is_empty())?;
    let stop = |broken: String, function: Function| inserted(&broken, path, function.first_statement, statement);
    Some(Broken::of(path, text, &found.into_iter().rev().fold(text.to_owned(), stop)))
}

/// Breaks the changed functions one by one: each text has one function that returns a wrong value or, if none is known for
/// its type, stops. The check must notice at least one text of each group.
pub(crate) fn broken_one_by_one(path: &str, before: &str, text: &str) -> Vec<Vec<Broken>> {
    let broken = changed_functions(path, before, text).into_iter().flat_map(|function| {
        let mut groups = wrong_values(path, text, function.returns.trim());
        if groups.is_empty() {
            groups.extend(statement(path, text).map(|statement| vec![statement.to_owned()]));
        }
        let place = function.first_statement;
        let one = move |statement: String| Broken::of(path, text, &inserted(text, path, place, &statement));
        groups.into_iter().map(move |group| group.into_iter().map(one).collect())
    });
    broken.collect()
}

/// Stops the changed blocks of statements one by one: a branch that no case takes can hold anything. Blocks whose first
/// line did not change are left out.
pub(crate) fn stopped_blocks(path: &str, before: &str, text: &str) -> Vec<Broken> {
    let changed = changed_lines(before, text);
    let Some(statement) = statement(path, text) else { return Vec::new() };
    let is_changed = |block: &Function| changed.range(block.lines.clone()).next().is_some();
    let places: BTreeSet<usize> = blocks(path, text)
        .unwrap_or_default()
        .iter()
        .filter(|block| is_changed(block))
        .map(|block| block.first_statement)
        .collect();
    places.into_iter().map(|place| Broken::of(path, text, &inserted(text, path, place, statement))).collect()
}

/// Stops the changed parts of statements that run only sometimes, one by one: the values of a conditional expression, the right
/// side of `and` and `or`, a branch without braces. A value that no case asks for can be anything.
pub(crate) fn stopped_branches(path: &str, before: &str, text: &str) -> Vec<Broken> {
    let changed = changed_lines(before, text);
    if is_shell(path, text) {
        return shell_branches(text, &changed);
    }
    let Some(statement) = statement(path, text) else { return Vec::new() };
    let is_changed = |lines: &std::ops::Range<usize>| changed.range(lines.clone()).next().is_some();
    let found = branches(path, text).unwrap_or_default().into_iter().filter(|branch| is_changed(&branch.lines));
    let broken = found.filter_map(|branch| {
        let part = &text[branch.range.clone()];
        let alone = alone(path, text, statement);
        let stopped = match branch.kind {
            BranchKind::Value => stopped_value(path, part)?,
            BranchKind::Statement => format!("{{ {alone} {part} }}"),
            BranchKind::First => format!("{alone} {part}"),
        };
        let whole = format!("{}{stopped}{}", &text[..branch.range.start], &text[branch.range.end..]);
        Some(Broken::of(path, text, &whole))
    });
    broken.collect()
}

/// Returns an expression that stops the program before it has the value of another one.
fn stopped_value(path: &str, value: &str) -> Option<String> {
    let stopped = match path.rsplit_once('.')?.1 {
        "py" => {
            format!("((_ for _ in ()).throw(SystemError(\"WORD\")) if len(\"WORD\") {OPERATOR} {BOUND} else (\u{2}))")
        }
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => {
            format!("(\"WORD\".length {OPERATOR} {BOUND} ? (() => {{ throw new Error(\"WORD\"); }})() : (\u{2}))")
        }
        "rs" => format!("{{ if \"WORD\".len() {OPERATOR} {BOUND} {{ panic!(\"WORD\"); }} \u{2} }}"),
        "go" => format!("func() bool {{ if len(\"WORD\") {OPERATOR} {BOUND} {{ panic(\"WORD\") }}; return \u{2} }}()"),
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => {
            format!("((void)(sizeof(\"WORD\") {OPERATOR} {BOUND} && (__builtin_trap(), 1)), (\u{2}))")
        }
        "dart" => format!("('WORD'.length {OPERATOR} {BOUND} ? throw StateError('WORD') : (\u{2}))"),
        _ => return None,
    };
    // The value may have the word, too.
    Some(marked(&stopped).replace('\u{2}', value))
}

/// Stops a shell script behind `&&`, `||` and the words that begin a branch, if a command follows on the same line. An unset
/// variable in front of the command ends the shell, or is an empty one.
fn shell_branches(text: &str, changed: &BTreeSet<usize>) -> Vec<Broken> {
    let (mut found, mut place) = (Vec::new(), 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_code = changed.contains(&number) && !line.trim_start().starts_with('#');
        for sign in [" && ", " || ", "then ", "else ", "do ", ") "].into_iter().filter(|_| is_code) {
            for (at, _) in line.match_indices(sign) {
                let (before, after) = (&line[..at], &line[at + sign.len()..]);
                let is_text = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
                let is_word = sign.starts_with([' ', ')']) || before.is_empty() || before.ends_with([' ', ';', '\t']);
                // A bracket that closes nothing belongs to a case.
                let is_case = sign != ") " || before.matches('(').count() == before.matches(')').count();
                let is_command =
                    after.starts_with(|letter: char| letter.is_alphanumeric() || "_[./$\":".contains(letter));
                let is_compound = ["if ", "for ", "while ", "case ", "until ", "do ", "[[", "exit", "return"]
                    .iter()
                    .any(|word| after.starts_with(word));
                if is_text || !is_word || !is_case || !is_command {
                    continue;
                }
                let at = place + at + sign.len();
                let with = |stop: &str| {
                    let stop = filled(&format!("WORD=\"{stop}\""));
                    format!("{}{stop} {}", &text[..at], &text[at..])
                };
                if !is_compound {
                    found.push(Broken { text: with("${WORD?WORD}"), twin: with("${WORD-}") });
                }
            }
        }
        place += line.len();
    }
    found
}

/// Puts the twins of a text together, so that few runs show that none of them changes anything. Returns several texts if they
/// are in one another's places.
pub(crate) fn together<'b>(text: &str, twins: impl Iterator<Item = &'b str>) -> Vec<String> {
    let mut edits: Vec<(usize, usize, &str)> = twins.map(|twin| edit(text, twin)).collect();
    edits.sort_by_key(|(start, end, _)| (*start, *end));
    let mut texts = Vec::new();
    while !edits.is_empty() {
        let (mut whole, mut last, mut left) = (String::new(), 0, Vec::new());
        for (start, end, new) in edits {
            if start < last {
                left.push((start, end, new));
                continue;
            }
            whole.push_str(&text[last..start]);
            whole.push_str(new);
            last = end;
        }
        whole.push_str(&text[last..]);
        texts.push(whole);
        edits = left;
    }
    texts
}

/// Returns the bytes of a text that another one replaces, and what it has there.
fn edit<'t>(text: &str, other: &'t str) -> (usize, usize, &'t str) {
    let same = |(one, two): &(char, char)| one == two;
    let start: usize = text.chars().zip(other.chars()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    let (rest, new) = (&text[start..], &other[start..]);
    let end: usize = rest.chars().rev().zip(new.chars().rev()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
    (start, text.len() - end, &new[..new.len() - end])
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
pub(super) fn is_shell(path: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((_, extension)) => ["sh", "bash", "zsh", "ksh"].contains(&extension),
        None => first.starts_with("#!") && first.ends_with("sh"),
    }
}

/// Returns the functions of a shell script whose braces stand where people put them: `name() {` and, alone, `}`.
pub(super) fn shell_functions(text: &str) -> Vec<Function> {
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

/// Returns the statements that return a value which no caller expects, in groups: the check must notice one of each group.
/// Without types a text, a fraction and a whole number are tried, because a test that only looks at the type notices two of
/// them. A test that only looks at one truth value does not notice the other one.
fn wrong_values(path: &str, text: &str, returns: &str) -> Vec<Vec<String>> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let alone = |statements: &[&str]| statements.iter().map(|statement| vec![(*statement).to_owned()]).collect();
    match extension {
        _ if is_shell(path, text) => alone(&["echo \"WORD\"; return 97"]),
        "py" => alone(&["return \"WORD\"", "return 97.25", "return 97"]),
        "js" | "jsx" | "mjs" | "cjs" => alone(&["return \"WORD\";", "return 97.25;", "return 97;"]),
        "ts" | "tsx" | "mts" | "cts" => alone(&["return \"WORD\" as any;"]),
        _ if ["bool", "boolean", "_Bool"].contains(&returns) => alone(&["return true;", "return false;"]),
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "java" | "dart" if returns == "void" => {
            alone(&["return;"])
        }
        "rs" | "go" if returns.is_empty() => alone(&["return;"]),
        _ => wrong_value(extension, returns).map(|value| vec![format!("return {value};")]).into_iter().collect(),
    }
}

/// Returns a wrong value; `None` if the type is too special for that.
fn wrong_value(extension: &str, returns: &str) -> Option<String> {
    let value = match extension {
        "rs" => match returns {
            "String" => "String::from(\"WORD\")",
            "&str" | "&'static str" => "\"WORD\"",
            "f32" | "f64" => "97.25",
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "97",
            _ if returns.starts_with("Option<") => "None",
            _ if returns.starts_with("Vec<") => "Vec::new()",
            _ => return None,
        },
        "go" => match returns {
            "string" => "\"WORD\"",
            "int" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32" | "uint64"
            | "float32" | "float64" => "97",
            _ if returns.starts_with("[]") || returns.starts_with("map[") => "nil",
            _ if returns.starts_with('(') => return zero_values(returns),
            _ => return None,
        },
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "java" | "dart" => match returns {
            "int" | "long" | "short" | "unsigned" | "unsigned int" | "unsigned long" | "size_t" | "ssize_t"
            | "int8_t" | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t" | "uint64_t"
            | "float" | "double" => "97",
            "String" => "\"WORD\"",
            _ => return None,
        },
        _ => return None,
    };
    Some(value.to_owned())
}

/// Returns the zero values of several results of Go; `None` if they have names.
fn zero_values(returns: &str) -> Option<String> {
    let types = returns.strip_prefix('(')?.strip_suffix(')')?.split(',').map(str::trim);
    let zeros: Option<Vec<String>> = types.map(|one| (!one.contains(' ')).then(|| format!("*new({one})"))).collect();
    zeros.map(|zeros| zeros.join(", "))
}

/// Returns the statement that ends a program of this language with a failure.
pub(super) fn statement(path: &str, text: &str) -> Option<&'static str> {
    if is_shell(path, text) {
        return None;
    }
    let extension = path.rsplit_once('.')?.1;
    Some(match extension {
        "py" => "raise SystemError(\"WORD\")",
        "rs" => "panic!(\"WORD\");",
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => "throw new Error(\"WORD\");",
        "go" => "panic(\"WORD\")",
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => "__builtin_trap();",
        "java" => "throw new IllegalStateException(\"WORD\");",
        "dart" => "throw StateError('WORD');",
        _ => return None,
    })
}

/// Inserts a statement behind the condition, as a formatter of the language would write it where the text has a line of
/// its own for it.
fn inserted(text: &str, path: &str, place: usize, statement: &str) -> String {
    let line = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let rest = &text[place..];
    let (before, after) = if text[line..place].trim().is_empty() {
        let indentation = &text[line..place];
        (String::new(), format!("\n{indentation}"))
    } else if rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
        let next = rest.lines().skip(1).find(|line| !line.trim().is_empty()).unwrap_or_default();
        (format!("\n{}", &next[..next.len() - next.trim_start().len()]), String::new())
    } else if path.ends_with(".py") {
        // A compound statement needs a line of its own.
        let stop = marked(&format!("assert not len(\"WORD\") {OPERATOR} {BOUND}, \"WORD\";"));
        return format!("{}{stop} {rest}", &text[..place]);
    } else {
        return format!("{} {}{rest}", &text[..place], alone(path, text, statement));
    };
    let indentation = before.strip_prefix('\n').or(after.strip_prefix('\n')).unwrap_or_default();
    format!("{}{before}{}{after}{rest}", &text[..place], guarded(path, text, indentation, statement))
}

/// Returns a statement behind the condition on one line, in front of another statement.
fn alone(path: &str, text: &str, statement: &str) -> String {
    let end = if path.ends_with(".go") { ";" } else { "" };
    format!("{}{end}", guarded(path, text, "", statement).replace('\n', " "))
}

/// Returns a statement behind the condition, with marks.
pub(super) fn guarded(path: &str, text: &str, indentation: &str, statement: &str) -> String {
    marked(&behind_condition(path, text, indentation, statement))
}

fn behind_condition(path: &str, text: &str, indentation: &str, statement: &str) -> String {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let step = match extension {
        "go" => "\t",
        _ if indentation.contains('\t') => "\t",
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "dart" => "  ",
        _ => "    ",
    };
    let condition = match extension {
        _ if is_shell(path, text) => {
            return format!(
                "if [ \"WORD\" {OPERATOR} \"{BOUND}\" ]; then\n{indentation}{step}{statement}\n{indentation}fi"
            );
        }
        "py" => return format!("if len(\"WORD\") {OPERATOR} {BOUND}:\n{indentation}{step}{statement}"),
        "rs" => format!("\"WORD\".len() {OPERATOR} {BOUND}"),
        "go" => format!("len(\"WORD\") {OPERATOR} {BOUND}"),
        "java" => format!("(\"WORD\".length() {OPERATOR} {BOUND})"),
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => format!("(sizeof(\"WORD\") {OPERATOR} {BOUND})"),
        "dart" => format!("('WORD'.length {OPERATOR} {BOUND})"),
        _ => format!("(\"WORD\".length {OPERATOR} {BOUND})"),
    };
    let statement = if extension == "go" { statement.trim_end_matches(';') } else { statement };
    format!("if {condition} {{\n{indentation}{step}{statement}\n{indentation}}}")
}

/// Returns the lines of the new text, from 0, that the change added, and those next to removed ones.
pub(super) fn changed_lines(before: &str, after: &str) -> BTreeSet<usize> {
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

    fn marked(text: &str) -> String {
        filled(text)
    }

    #[test]
    fn every_text_has_other_marks_and_its_condition_holds() {
        let mut seen = BTreeSet::new();
        for round in 0..200 {
            let is_taken = round % 2 == 0;
            let marks = Marks::random(is_taken, false);
            // A byte more, as in C, changes nothing.
            for length in [marks.word.len(), marks.word.len() + 1] {
                let bound: usize = marks.bound.parse().unwrap();
                let holds = match marks.operator {
                    "<" => length < bound,
                    "<=" => length <= bound,
                    ">" => length > bound,
                    _ => length >= bound,
                };
                assert_eq!(holds, is_taken, "{length} {} {bound}", marks.operator);
            }
            seen.insert((is_taken, marks.operator));
            let shell = Marks::random(is_taken, true);
            assert_eq!((shell.operator == "=") == (shell.word == shell.bound), is_taken);
            seen.insert((is_taken, shell.operator));
        }
        assert_eq!(seen.len(), 12, "each text and each twin may have every operator: {seen:?}");
    }

    #[test]
    fn only_changed_functions_are_stopped() {
        let before = "def a():\n    return 1\n\ndef b():\n    return 2\n";
        let after = "def a():\n    return 1\n\ndef b():\n    return 3\n";
        let head = "def a():\n    return 1\n\ndef b():\n    if len(\"WORD\")";
        let broken = stopped("m.py", before, after).unwrap();
        assert_eq!(broken.text, marked(&format!("{head} > 9:\n        raise SystemError(\"WORD\")\n    return 3\n")));
        assert_eq!(broken.twin, marked(&format!("{head} < 9:\n        raise SystemError(\"WORD\")\n    return 3\n")));
        assert_eq!(stopped("m.py", after, after), None);
        let wrong = ["\"WORD\"", "97.25", "97"]
            .map(|value| marked(&format!("{head} > 9:\n        return {value}\n    return 3\n")));
        let found = broken_one_by_one("m.py", before, after).into_iter().flatten().map(|broken| broken.text);
        assert_eq!(found.collect::<Vec<_>>(), wrong);
        assert_eq!(stopped("table.csv", "", "a"), None);
    }

    #[test]
    fn a_statement_stands_where_a_formatter_would_put_it() {
        let cases = [
            (
                "a.rs",
                "fn add() -> u8 {\n    1\n}\n",
                "fn add() -> u8 {\n    if \"WORD\".len() > 9 {\n        panic!(\"WORD\");\n    }\n    1\n}\n",
            ),
            ("a.rs", "fn add() -> u8 { 1 }", "fn add() -> u8 { if \"WORD\".len() > 9 {     panic!(\"WORD\"); } 1 }"),
            (
                "b.go",
                "package a\n\nfunc Add() int { return 1 }\n",
                "package a\n\nfunc Add() int { if len(\"WORD\") > 9 { \tpanic(\"WORD\") }; return 1 }\n",
            ),
            (
                "a.go",
                "package a\n\nfunc Add() int {\n\treturn 1\n}\n",
                "package a\n\nfunc Add() int {\n\tif len(\"WORD\") > 9 {\n\t\tpanic(\"WORD\")\n\t}\n\treturn 1\n}\n",
            ),
            (
                "a.js",
                "function add() {\n  return 1;\n}\n",
                "function add() {\n  if (\"WORD\".length > 9) {\n    throw new Error(\"WORD\");\n  }\n  return 1;\n}\n",
            ),
            ("a.py", "def add(): return 1\n", "def add(): assert not len(\"WORD\") > 9, \"WORD\"; return 1\n"),
        ];
        for (path, text, expected) in cases {
            assert_eq!(stopped(path, "", text).unwrap().text, marked(expected), "{path}");
        }
    }

    #[test]
    fn truth_values_and_several_results_have_wrong_values() {
        assert_eq!(wrong_values("a.go", "", "bool"), [["return true;"], ["return false;"]]);
        assert_eq!(wrong_values("a.go", "", "(int, error)"), [["return *new(int), *new(error);"]]);
        assert_eq!(wrong_values("a.c", "", "void"), [["return;"]]);
        assert!(wrong_values("a.go", "", "(n int, err error)").is_empty());
    }

    #[test]
    fn functions_of_shell_scripts_return_a_wrong_value() {
        let before = "trim() {\n    echo \"$1\"\n}\nother() {\n    :\n}\n";
        let after = "trim() {\n    echo \"$2\"\n}\nother() {\n    :\n}\n";
        let expected = "trim() {\n    if [ \"WORD\" != \"\" ]; then\n        echo \"WORD\"; return 97\n    fi\n    echo \"$2\"\n}\nother() {\n    :\n}\n";
        let broken = broken_one_by_one("lib.sh", before, after);
        assert_eq!(broken[0][0].text, marked(expected));
    }

    #[test]
    fn values_that_are_only_sometimes_asked_for_are_stopped() {
        let cases = [
            (
                "a.py",
                "x = a if b else c\n",
                "x = a if b else ((_ for _ in ()).throw(SystemError(\"WORD\")) if len(\"WORD\") > 9 else (c))\n",
            ),
            (
                "a.js",
                "if (a) return b;\n",
                "if (a) { if (\"WORD\".length > 9) {   throw new Error(\"WORD\"); } return b; }\n",
            ),
            ("a.sh", "a && b || c\n", "a && b || WORD=\"${WORD?WORD}\" c\n"),
            ("a.sh", "case $1 in\n  x) echo 1 ;;\nesac\n", "case $1 in\n  x) WORD=\"${WORD?WORD}\" echo 1 ;;\nesac\n"),
            (
                "a.c",
                "int f(int a) { return a ? 1 : 2; }\n",
                "int f(int a) { return a ? 1 : ((void)(sizeof(\"WORD\") > 9 && (__builtin_trap(), 1)), (2)); }\n",
            ),
        ];
        for (path, text, expected) in cases {
            let found = stopped_branches(path, "", text);
            assert_eq!(found.last().map(|broken| broken.text.clone()), Some(marked(expected)), "{text}");
        }
        assert_eq!(stopped_branches("a.sh", "", "echo 'a && b'\nf() { b=$(c) d; }\n"), []);
    }

    #[test]
    fn twins_are_put_together_unless_they_are_in_one_another() {
        let text = "a = b\nc = d\n";
        let twins = ["x\na = b\nc = d\n", "y\na = b\nc = d\n", "a = b\nc = (d)\n"];
        assert_eq!(together(text, twins.into_iter()), ["x\ny\na = b\nc = (d)\n"]);
        assert_eq!(together("a = b", ["a = (b)", "a = b!"].into_iter()).len(), 1);
        assert_eq!(together("a = bc", ["a = (bc)", "a = b-c"].into_iter()).len(), 2);
    }

    #[test]
    fn the_first_line_of_a_script_stays() {
        assert_eq!(unreadable("run", "#!/bin/sh\necho\n"), format!("#!/bin/sh\n{}\necho\n", nonsense()));
    }
}

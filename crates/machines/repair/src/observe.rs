//! Observations: lines that print the arguments and the results of functions, for a failure that nothing printed explains.
//!
//! Only whole lines are added, each a single call that prints, so that the program computes what it computed before. A
//! result is printed only if its expression has no effect of its own, because it is evaluated once more.

use std::collections::{BTreeMap, BTreeSet};

use crate::declared::{declared, is_number};
use crate::diff::unified;
use crate::edit::{Edit, apply};
use crate::localise::{Suspect, is_test};
use crate::source::{Source, parser};

/// The beginning of every printed line. `path:line: ` follows, and then `name(argument=value)` or `name = value`.
pub const OBSERVED: &str = "interlock-trace: ";

/// The words in the names of functions that only print.
const PRINTS: [&str; 10] = ["printf", "printk", "print", "println", "puts", "putchar", "putc", "log", "debug", "trace"];

/// Nodes with an effect: an expression with one of them is not evaluated a second time.
const EFFECTS: [&str; 5] =
    ["call_expression", "assignment_expression", "update_expression", "comma_expression", "gnu_asm_expression"];

/// The hexadecimal digits, each a text of its own, two bytes apart.
const DIGITS: &str = r#"&"0\0001\0002\0003\0004\0005\0006\0007\0008\0009\000A\000B\000C\000D\000E\000F"[2 * "#;

/// A way to print that a program has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Printer {
    /// The standard error of a program of this computer.
    StandardError,
    /// A function with a format and arguments.
    Format(String),
    /// A function that prints a text.
    Text(String),
}

/// A function that can be observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The path of its file.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its first line and its last; the first of a file is 1.
    pub lines: (usize, usize),
    /// The largest score of a suspect line in it.
    pub score: f64,
}

/// A change that prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The change as a unified diff.
    pub patch: String,
    /// The edits of each file, as byte ranges of the given text.
    pub edits: BTreeMap<String, Vec<Edit>>,
}

/// Returns the ways to print that the sources themselves have, the most capable first.
pub fn printers(files: &BTreeMap<String, String>) -> Vec<Printer> {
    let sources = read(files);
    let (mut formats, mut texts) = (BTreeSet::new(), BTreeSet::new());
    if files.values().any(|text| text.contains("<stdio.h>")) {
        formats.insert("printf".to_owned());
    }
    for source in &sources {
        for at in (0..source.nodes.len()).filter(|at| source.kind(*at) == "function_declarator") {
            let Some(name) = source.child(at, "declarator").map(|node| source.text(node)) else { continue };
            let Some(list) = source.child(at, "parameters").filter(|_| is_printing(name)) else { continue };
            let takes: Vec<String> =
                source.named(list).flat_map(|one| declared(source, one)).map(|one| one.kind).collect();
            let is_open = source.named(list).any(|one| source.kind(one) == "variadic_parameter");
            match (&takes[..], is_open) {
                ([text], true) if text == "char*" => drop(formats.insert(name.to_owned())),
                ([text], false) if text == "char*" => drop(texts.insert(name.to_owned())),
                _ => {}
            }
        }
    }
    formats.into_iter().map(Printer::Format).chain(texts.into_iter().map(Printer::Text)).collect()
}

fn is_printing(name: &str) -> bool {
    name.split('_').any(|part| PRINTS.contains(&part.to_ascii_lowercase().as_str()))
}

/// Returns the functions that may be changed and can be observed, the most suspect first.
pub fn functions(
    files: &BTreeMap<String, String>,
    suspects: &[Suspect],
    read_only: &BTreeSet<String>,
) -> Vec<Function> {
    let mut all = Vec::new();
    for source in read(files).iter().filter(|source| !read_only.contains(&source.path) && !is_test(&source.path)) {
        for at in definitions(source) {
            let Some((name, body)) = name_and_body(source, at).filter(|(_, body)| entry(source, *body).is_some())
            else {
                continue;
            };
            let last = source.node(at).line + source.text(at).lines().count().saturating_sub(1);
            let lines = (source.node(at).line, last);
            let within = |one: &&Suspect| one.path == source.path && (lines.0..=lines.1).contains(&one.line);
            let score = suspects.iter().filter(within).map(|one| one.score).fold(0.0, f64::max);
            let is_printer = is_printing(name) || source.text(body).len() < 3;
            if !is_printer {
                all.push(Function { path: source.path.clone(), name: name.to_owned(), lines, score });
            }
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

/// Returns the change that prints the arguments and results of the functions; `None` if a file cannot print that way.
pub fn observe(files: &BTreeMap<String, String>, printer: &Printer, of: &[Function]) -> Option<Observation> {
    let sources = read(files);
    let mut edits: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
    for source in &sources {
        let wanted = |at: &usize| {
            let name = name_and_body(source, *at).map(|(name, _)| name);
            of.iter().any(|one| one.path == source.path && Some(one.name.as_str()) == name)
        };
        let mut own: Vec<Edit> =
            definitions(source).filter(wanted).flat_map(|at| function(source, at, printer)).collect();
        if own.is_empty() {
            continue;
        }
        own.extend(known(source, &sources, printer)?);
        edits.insert(source.path.clone(), own);
    }
    let mut patch = String::new();
    for (path, edits) in &edits {
        let old = files.get(path)?;
        patch.push_str(&unified(path, old, &apply(old, edits)?));
    }
    (!patch.is_empty()).then_some(Observation { patch, edits })
}

fn read(files: &BTreeMap<String, String>) -> Vec<Source> {
    let mut parser = parser();
    files.iter().filter_map(|(path, text)| Source::read(parser.as_mut()?, path, text)).collect()
}

fn definitions(source: &Source) -> impl Iterator<Item = usize> + '_ {
    (0..source.nodes.len()).filter(|at| source.kind(*at) == "function_definition")
}

fn name_and_body(source: &Source, at: usize) -> Option<(&str, usize)> {
    let head = source.inside(at).find(|node| source.kind(*node) == "function_declarator")?;
    Some((source.text(source.child(head, "declarator")?), source.child(at, "body")?))
}

/// Returns the position of the line after the brace that opens a body, if nothing else stands on the brace's line.
fn entry(source: &Source, body: usize) -> Option<usize> {
    let from = source.node(body).start + 1;
    let rest = source.text.get(from..source.node(body).end)?;
    let end = rest.find('\n')?;
    rest[..end].trim().is_empty().then_some(from + end + 1)
}

/// Returns the edits that observe one function.
fn function(source: &Source, at: usize, printer: &Printer) -> Vec<Edit> {
    let Some((name, body)) = name_and_body(source, at) else { return Vec::new() };
    let Some(first) = entry(source, body) else { return Vec::new() };
    let place = format!("{}:{}", source.path, source.node(at).line);
    let list = source.inside(at).find(|node| source.kind(*node) == "parameter_list");
    let takes = list.into_iter().flat_map(|list| source.named(list)).flat_map(|one| declared(source, one));
    let takes: Vec<String> = takes.filter(|one| is_shown(&one.kind)).map(|one| one.name).collect();
    let called: Vec<(String, &str)> =
        takes.iter().enumerate().map(|(index, name)| (before_argument(index, name), name.as_str())).collect();
    let indent = format!("{}    ", source.indent(at));
    let called = printer.line(&format!("{place}: {name}("), &called, ")");
    let mut edits = vec![Edit { start: first, end: first, text: format!("{indent}{called}\n") }];
    for result in source.inside(body).filter(|node| source.kind(*node) == "return_statement") {
        edits.extend(returned(source, result, name, printer));
    }
    edits
}

fn before_argument(index: usize, name: &str) -> String {
    format!("{}{name}=", if index == 0 { "" } else { ", " })
}

/// Returns the edit that prints a result before it is returned, if its expression can be evaluated once more.
fn returned(source: &Source, at: usize, name: &str, printer: &Printer) -> Option<Edit> {
    let value = source.named(at).next()?;
    let has_effect = source.inside(value).any(|node| EFFECTS.contains(&source.kind(node)));
    let is_in_block = matches!(source.kind(source.parent(at)), "compound_statement");
    let start = source.node(at).start;
    let line = source.text.get(..start)?.rfind('\n').map_or(0, |end| end + 1);
    let indent = source.text.get(line..start)?;
    let text = source.text(value);
    let is_plain = !text.contains(['\n', '"', '{', ';']) && indent.trim().is_empty();
    if has_effect || !is_in_block || !is_plain {
        return None;
    }
    let place = format!("{}:{}", source.path, source.node(at).line);
    let said = printer.line(&format!("{place}: {name} = "), &[(String::new(), text)], "");
    Some(Edit { start: line, end: line, text: format!("{indent}{said}\n") })
}

/// Reports whether values of a type are printed: whole numbers and addresses.
fn is_shown(kind: &str) -> bool {
    is_number(kind) || kind.ends_with(['*', ']'])
}

/// Returns the edit that lets a file know the printing function: nothing if it does, an include of the header that
/// declares it; `None` if no header does.
fn known(source: &Source, sources: &[Source], printer: &Printer) -> Option<Option<Edit>> {
    let include = |what: String| Some(Some(Edit { start: 0, end: 0, text: format!("#include {what}\n") }));
    let name = match printer {
        Printer::StandardError if source.text.contains("<stdio.h>") => return Some(None),
        Printer::StandardError => return include("<stdio.h>".to_owned()),
        Printer::Format(name) | Printer::Text(name) => name,
    };
    let declares = |one: &&Source| {
        (0..one.nodes.len()).filter(|at| one.kind(*at) == "function_declarator").any(|at| {
            one.child(at, "declarator").is_some_and(|node| one.text(node) == name) && one.function(at).is_none()
        })
    };
    let is_standard = name == "printf" && source.text.contains("<stdio.h>");
    if is_standard || declares(&source) {
        return Some(None);
    }
    let header = sources.iter().filter(|one| one.path.ends_with(".h")).find(declares);
    let is_included = |header: &&Source| {
        let name = header.path.rsplit('/').next().unwrap_or_default();
        source.text.contains(&format!("{name}\"")) || source.text.contains(&format!("{name}>"))
    };
    match header {
        Some(header) if is_included(&header) => Some(None),
        Some(header) => include(format!("\"{}\"", from(&source.path, &header.path))),
        None if name == "printf" => include("<stdio.h>".to_owned()),
        None => None,
    }
}

/// Returns the path of a file as another one includes it.
fn from(path: &str, header: &str) -> String {
    let own: Vec<&str> = path.split('/').collect();
    let other: Vec<&str> = header.split('/').collect();
    let most = own.len().min(other.len()) - 1;
    let same = own.iter().zip(&other).take(most).take_while(|(a, b)| a == b).count();
    "../".repeat(own.len() - 1 - same) + &other[same..].join("/")
}

impl Printer {
    /// Returns one statement that prints a text with values, each after its name.
    fn line(&self, before: &str, values: &[(String, &str)], after: &str) -> String {
        let formatted = |conversion: &str, kind: &str| {
            let named: String = values.iter().map(|(name, _)| format!("{name}{conversion}")).collect();
            let given: String = values.iter().map(|(_, value)| format!(", ({kind})({value})")).collect();
            format!("\"{OBSERVED}{before}{named}{after}\\n\"{given}")
        };
        match self {
            Printer::StandardError => format!("fprintf(stderr, {});", formatted("%ld", "long")),
            // Small implementations know no length, and their `int` has the processor's width.
            Printer::Format(name) => format!("{name}({});", formatted("%d", "int")),
            Printer::Text(name) => {
                let mut calls = vec![format!("{name}(\"{OBSERVED}{before}\")")];
                for (argument, value) in values {
                    calls.extend((!argument.is_empty()).then(|| format!("{name}(\"{argument}\")")));
                    calls.push(format!("{name}(\"0x\")"));
                    let digit = |shift: u32| format!("{name}({DIGITS}(((unsigned)({value}) >> {shift}) & 15)])");
                    calls.extend((0..8).rev().map(|digit_at| digit(4 * digit_at)));
                }
                calls.push(format!("{name}(\"{after}\\n\")"));
                format!("{};", calls.join(", "))
            }
        }
    }
}

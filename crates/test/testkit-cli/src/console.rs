//! Checks documents that show a command line session: runs every ```` ```console ```` block and compares the output
//! with the document.
//!
//! In a block, a line that begins with `$ ` is a command: the binary, a shell command, or a background process (see
//! `shell.rs`). The lines up to the next command are its output: stdout first, then stderr. A line `...`
//! stands for any omitted lines; times of day, hashes and durations count as equal. A block that opens with
//! ```` ```LANGUAGE file=PATH ```` is written to that file of the session's directory. If `UPDATE_DOCS=1` is set in the
//! environment, the shown output is rewritten instead.

use std::path::Path;

use crate::{mask::masked, session::Session, shell::Shell};

/// The environment variable that requests a rewrite of the documents instead of a check.
pub const UPDATE: &str = "UPDATE_DOCS";

const OPEN: &str = "```console";
const CLOSE: &str = "```";
const FILE: &str = " file=";
const LEFT_OUT: &str = "...";

/// A command in a block, with the output that the document shows.
#[derive(Debug, PartialEq, Eq)]
struct Shown<'t> {
    command: &'t str,
    output: Vec<&'t str>,
}

/// Runs every command in a document and returns their number. Fails with the differences if an output is not as shown.
/// `program` is the word that stands for the session's binary.
pub fn check(document: &Path, program: &str, session: &Session) -> Result<usize, String> {
    let text = std::fs::read_to_string(document).map_err(|error| format!("{}: {error}", document.display()))?;
    let mut shell = Shell::new(program, session);
    let write = |path: &str, text: &str| session.write(path, text).map_err(|error| format!("{path}: {error}"));
    let (rewritten, differences, count) = rewrite(&text, |command, lines| shell.run(command, lines), write)?;
    if std::env::var_os(UPDATE).is_some() && rewritten != text {
        std::fs::write(document, rewritten).map_err(|error| error.to_string())?;
    } else if !differences.is_empty() {
        let hint = format!("run again with {UPDATE}=1 to rewrite it");
        return Err(format!("{}:\n{}\n{hint}", document.display(), differences.join("\n")));
    }
    Ok(count)
}

/// Returns the path of a block that is a file.
fn file_of(line: &str) -> Option<&str> {
    line.strip_prefix(CLOSE)?.split_once(FILE).map(|(_, path)| path)
}

/// The corrected document, the differences and the number of commands.
type Read = (String, Vec<String>, usize);

/// Reads a document line by line and runs its blocks.
fn rewrite(
    text: &str,
    mut run: impl FnMut(&str, usize) -> Result<String, String>,
    mut write: impl FnMut(&str, &str) -> Result<(), String>,
) -> Result<Read, String> {
    let (mut out, mut differences, mut count) = (String::new(), Vec::new(), 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        push_line(&mut out, line);
        let path = file_of(line);
        if line != OPEN && path.is_none() {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != CLOSE).collect();
        if let Some(path) = path {
            let content: String = block.iter().map(|line| format!("{line}\n")).collect();
            write(path, &content)?;
            out.push_str(&content);
        } else {
            let shown = commands(&block)?;
            count += shown.len();
            run_block(&shown, &mut run, &mut out, &mut differences)?;
        }
        push_line(&mut out, CLOSE);
    }
    Ok((out, differences, count))
}

/// Runs the commands of a block and appends them to the document, each with the output that it has.
fn run_block(
    block: &[Shown<'_>],
    mut run: impl FnMut(&str, usize) -> Result<String, String>,
    out: &mut String,
    differences: &mut Vec<String>,
) -> Result<(), String> {
    for shown in block {
        let printed = run(shown.command, shown.output.len())?;
        let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let is_same = matches(&shown.output, &printed);
        if !is_same {
            differences.push(format!("$ {}\n{}", shown.command, printed.join("\n")));
        }
        push_line(out, &format!("$ {}", shown.command));
        let kept = if is_same { &shown.output } else { &printed };
        kept.iter().for_each(|line| push_line(out, line));
    }
    Ok(())
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

fn commands<'t>(block: &[&'t str]) -> Result<Vec<Shown<'t>>, String> {
    let mut commands: Vec<Shown<'t>> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push(Shown { command, output: Vec::new() }),
            (None, Some(last)) => last.output.push(line),
            (None, None) => return Err(format!("a console block begins with `{line}` and not with a command")),
        }
    }
    Ok(commands)
}

/// Returns true if the printed lines match the shown ones, with `...` for omitted lines.
fn matches(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        [LEFT_OUT, rest @ ..] => (0..=printed.len()).any(|from| matches(rest, &printed[from..])),
        [line, rest @ ..] => {
            printed.first().is_some_and(|first| masked(first) == masked(line)) && matches(rest, &printed[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(command: &str, _lines: usize) -> Result<String, String> {
        Ok(format!("{command}\nsecond\nthird\n"))
    }

    fn no_file(path: &str, _text: &str) -> Result<(), String> {
        Err(format!("{path} was not expected"))
    }

    fn check(shown: &str, expected: &str, differences: usize) {
        let (text, found, _) = rewrite(&format!("before\n```console\n{shown}```\nafter\n"), echo, no_file).unwrap();
        assert_eq!(text, format!("before\n```console\n{expected}```\nafter\n"));
        assert_eq!(found.len(), differences, "{found:?}");
    }

    #[test]
    fn matching_output_is_kept() {
        check("$ a\na\nsecond\nthird\n$ b\nb\n...\n", "$ a\na\nsecond\nthird\n$ b\nb\n...\n", 0);
        check("$ a\n...\nthird\n", "$ a\n...\nthird\n", 0);
    }

    #[test]
    fn other_output_is_a_difference() {
        check("$ a\nother\n", "$ a\na\nsecond\nthird\n", 1);
        check("$ a\n...\nsecond\n", "$ a\na\nsecond\nthird\n", 1);
        check("$ a\n", "$ a\na\nsecond\nthird\n", 1);
    }

    #[test]
    fn other_blocks_are_ignored_and_a_block_without_command_is_an_error() {
        let text = "```sh\n$ rm -rf /\n```\n";
        assert_eq!(rewrite(text, echo, no_file).unwrap(), (text.to_owned(), Vec::new(), 0));
        assert!(rewrite("```console\noutput\n```\n", echo, no_file).is_err());
    }

    #[test]
    fn blocks_with_a_path_become_files() {
        let text = "```yaml file=a/machine.yaml\nmachine: a\nversion: 1\n```\n";
        let mut written = Vec::new();
        let write = |path: &str, text: &str| {
            written.push((path.to_owned(), text.to_owned()));
            Ok(())
        };
        assert_eq!(rewrite(text, echo, write).unwrap(), (text.to_owned(), Vec::new(), 0));
        assert_eq!(written, [("a/machine.yaml".to_owned(), "machine: a\nversion: 1\n".to_owned())]);
    }
}

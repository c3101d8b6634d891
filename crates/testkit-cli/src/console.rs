//! Checks documents that show a command line session: runs every ```` ```console ```` block and compares the output
//! with the document.
//!
//! In a block, a line that begins with `$ ` is a command. The lines up to the next command are its output: stdout
//! first, then stderr. A line `...` stands for any omitted lines, and all times of day count as equal. If
//! `UPDATE_DOCS=1` is set in the environment, the blocks are rewritten instead.

use std::path::Path;

use crate::session::{Session, without_times};

/// The environment variable that requests a rewrite of the documents instead of a check.
pub const UPDATE: &str = "UPDATE_DOCS";

const OPEN: &str = "```console";
const CLOSE: &str = "```";
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
    let (rewritten, differences, count) = rewrite(&text, |command| run(command, program, session))?;
    if std::env::var_os(UPDATE).is_some() && rewritten != text {
        std::fs::write(document, rewritten).map_err(|error| error.to_string())?;
    } else if !differences.is_empty() {
        let hint = format!("run again with {UPDATE}=1 to rewrite it");
        return Err(format!("{}:\n{}\n{hint}", document.display(), differences.join("\n")));
    }
    Ok(count)
}

fn run(command: &str, program: &str, session: &Session) -> Result<String, String> {
    let arguments = command.strip_prefix(program).filter(|rest| rest.is_empty() || rest.starts_with(' '));
    let arguments = arguments.ok_or_else(|| format!("`{command}` is no {program} command and cannot be checked"))?;
    let transcript = session.run(arguments).map_err(|error| format!("`{command}`: {error}"))?;
    Ok(transcript.stdout + &transcript.stderr)
}

/// Returns the corrected document, the differences and the number of commands.
fn rewrite(text: &str, run: impl Fn(&str) -> Result<String, String>) -> Result<(String, Vec<String>, usize), String> {
    let (mut out, mut differences, mut count) = (String::new(), Vec::new(), 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line != OPEN {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != CLOSE).collect();
        for shown in commands(&block)? {
            let printed = run(shown.command)?;
            let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
            count += 1;
            let is_same = matches(&shown.output, &printed);
            if !is_same {
                differences.push(format!("$ {}\n{}", shown.command, printed.join("\n")));
            }
            let kept = if is_same { &shown.output } else { &printed };
            out.push_str(&format!("$ {}\n", shown.command));
            kept.iter().for_each(|line| out.push_str(&format!("{line}\n")));
        }
        out.push_str(CLOSE);
        out.push('\n');
    }
    Ok((out, differences, count))
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
            printed.first().is_some_and(|first| without_times(first) == without_times(line))
                && matches(rest, &printed[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(command: &str) -> Result<String, String> {
        Ok(format!("{command}\nsecond\nthird\n"))
    }

    fn check(shown: &str, expected: &str, differences: usize) {
        let (text, found, _) = rewrite(&format!("before\n```console\n{shown}```\nafter\n"), echo).unwrap();
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
        assert_eq!(rewrite(text, echo).unwrap(), (text.to_owned(), Vec::new(), 0));
        assert!(rewrite("```console\noutput\n```\n", echo).is_err());
    }
}

//! Changed lines that no function holds, all changed lines of shell scripts, and changes that no check can see.
//!
//! A file that is broken as a whole shows only that the check uses the file. So a change of a comment is no change of the
//! program, and a changed statement at the top of a file is tested only if the check notices that the program stops there.

use std::collections::BTreeSet;

use interlock_codemap::{functions, without_comments};

use super::breaking::{Broken, changed_lines, filled, guarded, is_shell, shell_functions, statement};

/// Languages whose statements at the top of a file run when the file is read.
const RUN_FROM_THE_TOP: [&str; 9] = ["py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];

/// Returns true if a change concerns comments and white space only.
pub(crate) fn is_cosmetic(path: &str, before: &str, after: &str) -> bool {
    // The first line of a script names the program that reads it.
    let head = |text: &str| text.lines().next().filter(|line| line.starts_with("#!")).map(str::to_owned);
    head(before) == head(after) && code(path, before) == code(path, after)
}

/// Returns the lines of code. Indentation counts only where it means something.
fn code(path: &str, text: &str) -> Vec<String> {
    let plain = match without_comments(path, text) {
        Some(code) => code,
        None => text.lines().map(|line| without_comment(path, text, line)).collect::<Vec<_>>().join("\n"),
    };
    let has_meaning = ["py", "pyx", "nim", "hs", "fs", "yaml", "yml"].contains(&extension(path));
    let lines = plain.lines().map(|line| if has_meaning { line.trim_end() } else { line.trim() });
    lines.filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Languages with other comments, which may need an end.
const OTHER_COMMENTS: [&str; 9] = ["vue", "svelte", "clj", "erl", "ml", "mli", "asm", "s", "vb"];

/// Adds a comment to a text: whoever runs it notices nothing. The text stays as it is if the language has other comments.
pub(crate) fn with_comment(path: &str, text: &str) -> String {
    if OTHER_COMMENTS.contains(&extension(path)) {
        return text.to_owned();
    }
    format!("{}\n{}\n", text.trim_end(), filled(&format!("{} WORD", sign(path, text))))
}

/// Returns the sign of a comment.
fn sign(path: &str, text: &str) -> &'static str {
    match extension(path) {
        "lua" | "sql" | "hs" | "vhd" => "--",
        "rb" | "pl" | "pm" | "r" | "jl" | "tcl" | "awk" | "sed" | "ex" | "exs" | "nim" | "fish" | "toml" | "yaml" => {
            "#"
        }
        "py" => "#",
        _ if is_shell(path, text) || text.starts_with("#!") => "#",
        _ => "//",
    }
}

/// Returns a line of a language without a grammar here, without its comment.
pub(super) fn without_comment(path: &str, text: &str, line: &str) -> String {
    let sign = sign(path, text);
    if line.trim_start().starts_with(sign) {
        return String::new();
    }
    // Behind code the sign counts only if it cannot be a part of a text.
    match line.rsplit_once(&format!(" {sign}")) {
        Some((code, comment)) if !comment.contains(['\'', '"', '`']) && !code.contains("<<") => code.to_owned(),
        _ => line.to_owned(),
    }
}

/// Stops the program at the changed lines that no function holds, one by one. Empty if the language has no such statement.
pub(crate) fn stopped_lines(path: &str, before: &str, after: &str) -> Vec<Broken> {
    let statement = match is_shell(path, after) {
        true => "exit 97",
        false => match statement(path, after).filter(|_| RUN_FROM_THE_TOP.contains(&extension(path))) {
            Some(statement) => statement,
            None => return Vec::new(),
        },
    };
    // Blocks of functions are stopped elsewhere, where the language has a grammar.
    let held = functions(path, after).unwrap_or_default();
    let held: BTreeSet<usize> = held.into_iter().flat_map(|function| function.lines).collect();
    let lines: Vec<&str> = after.split_inclusive('\n').collect();
    // At the end of a block inside of a function, everything has been done.
    let inside: BTreeSet<usize> = match is_shell(path, after) {
        true => shell_functions(after).into_iter().flat_map(|function| function.lines).collect(),
        false => BTreeSet::new(),
    };
    let is_end = |line: &str| {
        let first = line.trim().split([' ', ';']).next().unwrap_or_default();
        ["fi", "done", "esac", "else", "elif", "then", "do", "}", "{", ""].contains(&first)
    };
    let is_code = |at: &usize| {
        let line = lines.get(*at).copied().unwrap_or_default();
        !held.contains(at)
            && (!inside.contains(at) || !is_end(line))
            && !line.starts_with("#!")
            && !without_comment(path, after, line).trim().is_empty()
    };
    changed_lines(before, after).into_iter().filter(is_code).map(|at| with_line(path, &lines, at, statement)).collect()
}

/// Puts a statement before a line, with the indentation of that line.
fn with_line(path: &str, lines: &[&str], at: usize, statement: &str) -> Broken {
    let (line, text) = (lines[at], lines.concat());
    let indentation = &line[..line.len() - line.trim_start().len()];
    let guarded = guarded(path, &text, indentation, statement);
    Broken::of(path, &text, &format!("{}{indentation}{guarded}\n{}", lines[..at].concat(), lines[at..].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_comments_is_cosmetic() {
        for (path, before, after) in [
            ("count.sh", "echo $#\n", "echo $#\n# blanks are handled\n"),
            ("count.sh", "echo $#\n", "\n  echo $#  # the number\n"),
            ("a.py", "x = 1\n", "\"\"\"Blanks.\"\"\"\nx = 1  # one\n"),
            ("a.rs", "fn a() { b() }\n", "/// Blanks.\nfn a() { b() }\n"),
        ] {
            assert!(is_cosmetic(path, before, after), "{path}: {after}");
        }
        for (path, before, after) in [
            ("count.sh", "echo $#\n", "echo '$# # x'\n"),
            ("count.sh", "#!/bin/sh\necho $#\n", "#!/bin/bash\necho $#\n"),
            ("a.py", "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"),
            ("a.rs", "fn a() { b() }\n", "fn a() { c() }\n"),
        ] {
            assert!(!is_cosmetic(path, before, after), "{path}: {after}");
        }
    }

    #[test]
    fn only_what_is_inserted_has_the_word_of_the_process() {
        let stopped = stopped_lines("tell.sh", "", "echo WORD 97\n");
        assert!(stopped[0].twin.ends_with("fi\necho WORD 97\n"), "{}", stopped[0].twin);
    }

    #[test]
    fn a_program_stops_at_every_changed_line() {
        let after = "echo $#\nif test \"$1\" = -h; then\n  echo help\nfi\n";
        let stopped = stopped_lines("count.sh", "echo $#\n", after);
        assert_eq!(stopped.len(), 3);
        let second = &stopped[1].text;
        assert!(second.contains("then\n      exit ") && second.ends_with("\n  fi\n  echo help\nfi\n"), "{second}");
        assert!(stopped_lines("a.c", "", "int x;\n").is_empty());
    }
}

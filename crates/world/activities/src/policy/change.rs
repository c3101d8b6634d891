//! Limits on a change besides the policy: logging only, minimal size, no pure formatting.

use interlock_policy::{FileChange, Patch};

/// The most files and lines that a minimal change touches.
const MINIMAL_FILES: usize = 2;
const MINIMAL_LINES: usize = 20;

/// Parts of names of functions and macros that only produce output, in lower case: `LOG_DEBUG(`, `log::debug!(`,
/// `ESP_LOGI(`.
const SAYING: [&str; 22] = [
    "printf", "fprintf", "printk", "print", "println", "eprintln", "puts", "putchar", "putc", "log", "logi", "logd",
    "logw", "loge", "logger", "logging", "syslog", "trace", "debug", "dbg", "console", "warn",
];

/// Complete beginnings of such names.
const BEGINNINGS: [&str; 4] = ["fmt.Print", "System.out.", "uart_write(", "uart_puts("];

/// Returns the reason why a patch does more than log and assert, or `None` if it does not.
pub(super) fn beyond_logging(patch: &Patch) -> Option<String> {
    patch.files.iter().find_map(|file| {
        if let Some(line) = file.removed.iter().find(|line| !is_nothing(line)) {
            return Some(format!(
                "{}: only logging and assertions may be added, but this line is removed: {}",
                file.path,
                line.trim()
            ));
        }
        let line = file.added.iter().find(|line| !is_nothing(line) && !is_saying(line))?;
        Some(format!(
            "{}: only logging and assertions may be added, but this line is neither: {}",
            file.path,
            line.trim()
        ))
    })
}

/// Returns true for a line without effect: blank, a single brace, a comment, or an import.
fn is_nothing(line: &str) -> bool {
    let line = line.trim();
    // A comment that is not closed on its line, or that continues on the next, would turn the following code into a
    // comment.
    let is_comment = line
        .strip_prefix("/*")
        .and_then(|rest| rest.split_once("*/"))
        .is_some_and(|(_, after)| after.trim().is_empty())
        || (line.starts_with("//") && !line.ends_with('\\'));
    let makes_known = ["#include", "import ", "use "].iter().any(|start| line.starts_with(start))
        && line.trim_end_matches(';').split(';').count() == 1;
    ["", "{", "}", "};"].contains(&line) || is_comment || makes_known
}

/// Returns true for a single statement that logs or asserts and assigns nothing.
fn is_saying(line: &str) -> bool {
    let line = line.trim();
    let name =
        line.split(|letter: char| !letter.is_alphanumeric() && !"_.:!".contains(letter)).next().unwrap_or_default();
    let says = |part: &str| {
        let part = part.to_ascii_lowercase();
        SAYING.contains(&part.as_str()) || part.starts_with("assert") || part.ends_with("assert")
    };
    let begins = BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
        || name.split(|letter: char| !letter.is_alphanumeric()).any(says);
    let outside = outside_quotes(line);
    begins && outside.trim_end_matches(';').split(';').count() == 1 && !sets(&outside)
}

fn outside_quotes(line: &str) -> String {
    line.split('"').step_by(2).collect()
}

fn sets(outside: &str) -> bool {
    let bytes = outside.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        *byte == b'='
            && bytes.get(at + 1) != Some(&b'=')
            && at.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(|before| !b"=!<>".contains(before))
    }) || outside.contains("++")
        || outside.contains("--")
}

/// Returns the reason why a patch is more than a minimal change.
pub(super) fn beyond_minimal(patch: &Patch) -> Option<String> {
    let (files, lines) = (patch.files.len(), patch.lines());
    let is_more = files > MINIMAL_FILES || lines > MINIMAL_LINES;
    is_more.then(|| {
        format!(
            "a minimal change has at most {MINIMAL_FILES} files and {MINIMAL_LINES} lines; this has {files} and {lines}"
        )
    })
}

/// Returns the reason why a patch is pure formatting: one of its files changes only in whitespace.
pub(super) fn only_formatting(patch: &Patch) -> Option<String> {
    let squeezed = |lines: &[String]| {
        lines.iter().flat_map(|line| line.chars()).filter(|letter| !letter.is_whitespace()).collect::<String>()
    };
    let is_formatting =
        |file: &&FileChange| !file.removed.is_empty() && squeezed(&file.added) == squeezed(&file.removed);
    patch.files.iter().find(is_formatting).map(|file| format!("{}: only its formatting changes", file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(added: &[&str], removed: &[&str]) -> Patch {
        let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
        Patch {
            files: vec![FileChange {
                path: "a.c".into(),
                kind: Default::default(),
                added: lines(added),
                removed: lines(removed),
            }],
        }
    }

    #[test]
    fn only_lines_that_say_or_check_are_logging() {
        let good = [
            "printf(\"x = %d\\n\", x);",
            "  LOG_DEBUG(\"here; there\");",
            "assert(x == 3);",
            "configASSERT(p != NULL);",
            "// why",
            "",
            "#include <stdio.h>",
            "log::debug!(\"{x}\");",
            "print(f\"x {x}\")",
            "TEST_ASSERT(x <= 3);",
        ];
        for line in good {
            assert_eq!(beyond_logging(&patch(&[line], &[])), None, "{line}");
        }
        let bad = [
            "x = 3;",
            "printf(\"x\"); x = 3;",
            "assert(x = 3);",
            "printf(\"%d\", x++);",
            "return 0;",
            "catalog(x);",
            "logout(x);",
            "log(\"x\"); reboot();",
            "if (x) return;",
            "system(\"log\");",
            "} else if (x > 3) {",
            "*x = 3;",
            "* x = 3;",
            "/* why */ x = 3;",
            "/*",
            "*/",
            "// why \\",
            "import os; os.remove('x')",
        ];
        for line in bad {
            assert!(beyond_logging(&patch(&[line], &[])).is_some(), "{line}");
        }
        assert!(beyond_logging(&patch(&["printf(\"x\");"], &["x = 3;"])).is_some());
        assert!(beyond_logging(&patch(&["} else {"], &["} else if (x) {"])).is_some());
        assert_eq!(beyond_logging(&patch(&["/* why */", "// and how"], &[])), None);
    }

    #[test]
    fn formatting_is_known_by_what_is_left_without_blanks() {
        assert!(only_formatting(&patch(&["  x  =  3;"], &["x = 3;"])).is_some());
        assert!(only_formatting(&patch(&["x = 4;"], &["x = 3;"])).is_none());
        assert!(only_formatting(&patch(&["x = 3;"], &[])).is_none());
    }
}

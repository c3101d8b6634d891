//! Reads a PRD: its title and its tasks, each with an id, a priority and at least one way to verify it.
//!
//! ```markdown
//! # Title
//!
//! - [ ] T-001: [P0] The task (src/a.rs, src/b.rs)
//!   * Verify: `cargo test parses`
//!   * Verify: a sentence that the project's tests show
//! ```
//!
//! A verification in backquotes is a command, and a result that stands behind it is compared ("`sh a.sh` prints `2`"). Ticked boxes mean nothing. Text in fenced code blocks is not read.

use std::{collections::BTreeSet, fmt, sync::LazyLock};

use regex::Regex;

use crate::tasks::Task;

/// The most tasks of a document.
const TASKS_MAX: usize = 100;

/// The most problems that are reported.
const PROBLEMS_MAX: usize = 20;

/// A checked document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The text of the first heading.
    pub title: String,
    /// The tasks in the order of the document.
    pub tasks: Vec<Task>,
    /// The reasons to refuse the document; empty if it can be executed.
    pub problems: Vec<Problem>,
}

/// A reason to refuse a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The problem and how to solve it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.message)
    }
}

/// The lines of a document that have a meaning.
struct Forms {
    boxed: Regex,
    task: Regex,
    verify: Regex,
    files: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    Some(Forms {
        boxed: Regex::new(r"^[-*] \[[ xX]\]\s*(.*)$").ok()?,
        task: Regex::new(r"^((?:T|Task)-\d{3,6})\s*:\s*(?:\[(P[0-9])\])?\s*(.*)$").ok()?,
        verify: Regex::new(r"^\s+[-*]\s+(?:\*\*)?[Vv]erify(?:\*\*)?\s*:\s*(?:\*\*)?\s*(.*)$").ok()?,
        files: Regex::new(r"^(.*\S)\s+\(([^()]+)\)$").ok()?,
    })
});

/// Reads a document and lists all its problems.
pub fn parse(text: &str) -> Document {
    let mut reader = Reader::default();
    if let Some(forms) = &*FORMS {
        let mut is_code = false;
        for (at, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                reader.read(forms, at + 1, line);
            }
        }
    }
    reader.finish(text.lines().count().max(1))
}

#[derive(Default)]
struct Reader {
    document: Document,
    /// The line of each task.
    lines: Vec<usize>,
    /// True if the last box could not be read as a task: its verifications belong to nothing.
    is_lost: bool,
}

impl Reader {
    fn read(&mut self, forms: &Forms, at: usize, line: &str) {
        if let Some(title) = line.strip_prefix("# ").filter(|_| self.document.title.is_empty()) {
            self.document.title = title.trim().to_owned();
        } else if let Some(found) = forms.boxed.captures(line) {
            self.task(forms, at, found[1].trim());
        } else if let Some(found) = forms.verify.captures(line) {
            self.verify(at, found[1].trim());
        }
    }

    fn task(&mut self, forms: &Forms, at: usize, text: &str) {
        let Some(found) = forms.task.captures(text) else {
            self.is_lost = true;
            return self.problem(at, "a task begins with an id, such as `- [ ] T-001: [P0] …`");
        };
        self.is_lost = false;
        let (id, title) = (found[1].to_owned(), found[3].trim());
        if self.document.tasks.iter().any(|task| task.id == id) {
            self.problem(at, &format!("the id {id} is used twice; give every task its own"));
        }
        let priority = found.get(2).map(|priority| priority.as_str().to_owned());
        if priority.is_none() {
            self.problem(at, &format!("{id} has no priority; write `{id}: [P0] …`, P0 being the first"));
        }
        if title.is_empty() {
            self.problem(at, &format!("{id} has no title"));
        }
        let (title, files) = split_files(forms, title);
        let priority = priority.unwrap_or_default();
        self.document.tasks.push(Task { id, priority, title, files, ..Task::default() });
        self.lines.push(at);
    }

    fn verify(&mut self, at: usize, text: &str) {
        let Some(task) = self.document.tasks.last_mut().filter(|_| !self.is_lost) else {
            if !self.is_lost {
                self.problem(at, "a verification belongs below its task");
            }
            return;
        };
        if text.is_empty() {
            return self.problem(at, "the verification is empty");
        }
        task.verify.push(text.to_owned());
        match stated(text) {
            Stated::Checked(command) => task.commands.push(command),
            Stated::Words => {}
            Stated::Unclear => {
                self.problem(at, "the result is not stated literally; write it in backquotes: `command` prints `text`");
            }
        }
    }

    fn finish(mut self, last: usize) -> Document {
        if self.document.title.is_empty() {
            self.problem(1, "the document has no title; begin it with `# …`");
        }
        if self.document.tasks.is_empty() && !self.is_lost {
            self.problem(last, "there is no task; write `- [ ] T-001: [P0] …` with a line `  * Verify: …` below it");
        }
        if self.document.tasks.len() > TASKS_MAX {
            self.problem(last, &format!("there are more than {TASKS_MAX} tasks; split the document"));
        }
        let unverified = self.document.tasks.iter().zip(&self.lines).filter(|(task, _)| task.verify.is_empty());
        let unverified: Vec<(usize, String)> = unverified.map(|(task, at)| (*at, task.id.clone())).collect();
        for (at, id) in unverified {
            self.problem(at, &format!("{id} cannot be verified; add a line `  * Verify: …` below it"));
        }
        self.document.problems.sort_by_key(|problem| problem.line);
        self.document.problems.truncate(PROBLEMS_MAX);
        self.document
    }

    fn problem(&mut self, line: usize, message: &str) {
        self.document.problems.push(Problem { line, message: message.to_owned() });
    }
}

/// Splits the files in parentheses at the end of a title from it. Other text in parentheses belongs to the title.
fn split_files(forms: &Forms, title: &str) -> (String, Vec<String>) {
    if let Some(found) = forms.files.captures(title) {
        let files: BTreeSet<String> =
            found[2].split(',').map(|file| file.trim().trim_matches('`').to_owned()).collect();
        let is_path = |file: &String| !file.contains(' ') && (file.contains('.') || file.contains('/'));
        if files.iter().all(is_path) {
            return (found[1].to_owned(), files.into_iter().collect());
        }
    }
    (title.to_owned(), Vec::new())
}

/// A statement of a verification.
#[derive(Debug, PartialEq, Eq)]
enum Stated {
    /// A command that fails if the stated result is not there.
    Checked(String),
    /// Words that no command checks.
    Words,
    /// A result of a command that cannot be compared.
    Unclear,
}

/// The results that a verification can state, behind its command.
struct Results {
    prints: Regex,
    contains: Regex,
    ends: Regex,
    passes: Regex,
}

static RESULTS: LazyLock<Option<Results>> = LazyLock::new(|| {
    let also = r"^(?:now\s+|must\s+|should\s+|then\s+|应该?)*";
    Some(Results {
        prints: Regex::new(&format!(r"(?i){also}(?:prints?|outputs?|displays?|shows?|writes?|echoe?s?|returns?\s+the\s+text|输出|打印|显示)\s*(?:exactly|just|only)?\s*[:：]?\s*(.*)$")).ok()?,
        contains: Regex::new(&format!(r"(?i){also}(?:(?:prints?|outputs?|输出)\s*)?(?:(?:text|something|output)\s+)?(?:that\s+)?(?:contain(?:s|ing)?|includes?|包含|含有)\s*[:：]?\s*(.*)$")).ok()?,
        ends: Regex::new(&format!(r"(?i){also}(?:(?:exits?|ends?|returns?|fails?)\s+(?:with\s+)?(?:(?:exit\s+|status\s+|return\s+)*(?:code|status)\s+)?|(?:返回|退出)码?(?:为|是)?\s*)(\d+)$")).ok()?,
        passes: Regex::new(&format!(r"(?i){also}(?:pass(?:es)?|succeeds?|works|runs|is\s+(?:green|clean)|通过|成功)\b.*$|^通过|^成功")).ok()?,
    })
});

/// Returns the result that a verification states. Its whole text in backquotes is a command; a command with a stated result,
/// such as "`sh a.sh` prints `2`", becomes a command that compares.
fn stated(text: &str) -> Stated {
    let Some((command, rest)) = text.strip_prefix('`').and_then(|text| text.split_once('`')) else {
        return Stated::Words;
    };
    let (command, rest) = (command.trim(), rest.trim().trim_end_matches(['.', '。']).trim());
    if command.is_empty() {
        return Stated::Words;
    }
    let Some(results) = RESULTS.as_ref().filter(|_| !rest.is_empty()) else {
        return Stated::Checked(command.to_owned());
    };
    if let Some(found) = results.ends.captures(rest) {
        return Stated::Checked(format!("({command}); test $? -eq {}", &found[1]));
    }
    if let Some(found) = results.contains.captures(rest) {
        let line = |text: String| Stated::Checked(format!("({command}) | grep -qF -- {text}"));
        return literal(&found[1]).map_or(Stated::Unclear, line);
    }
    if let Some(found) = results.prints.captures(rest) {
        let line = |text: String| Stated::Checked(format!("test \"$({command})\" = {text}"));
        return literal(&found[1]).map_or(Stated::Unclear, line);
    }
    match results.passes.is_match(rest) {
        true => Stated::Checked(command.to_owned()),
        false => Stated::Words,
    }
}

/// Returns a literal result as a word for the shell: text in quotes, or a single word.
fn literal(text: &str) -> Option<String> {
    let text = text.trim();
    let quoted = [("`", "`"), ("\"", "\""), ("'", "'"), ("“", "”"), ("「", "」")]
        .iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close).filter(|inner| !inner.contains(close)));
    let plain = || (!text.is_empty() && !text.contains(char::is_whitespace)).then_some(text);
    let text = quoted.or_else(plain)?;
    Some(format!("'{}'", text.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# Dark mode\n\n## 3. Tasks\n\n- [x] T-001: [P0] A switch (src/a.css, b.css)\n  * Verify: `make test`\n  \
        * Verify: it is dark\n\n```\n- [ ] an example\n```\n* [ ] Task-0002: [P1] Remember it (really)\n  - **Verify:** `make \
        e2e`\n";

    #[test]
    fn tasks_are_read_with_files_and_commands() {
        let document = parse(GOOD);
        assert_eq!(document.problems, []);
        assert_eq!(document.title, "Dark mode");
        let [first, second] = &document.tasks[..] else { panic!("{document:?}") };
        assert_eq!((first.id.as_str(), first.priority.as_str(), first.title.as_str()), ("T-001", "P0", "A switch"));
        assert_eq!(first.files, ["b.css", "src/a.css"]);
        assert_eq!(first.verify, ["`make test`", "it is dark"]);
        assert_eq!(first.commands, ["make test"]);
        assert_eq!((second.title.as_str(), &second.files[..]), ("Remember it (really)", &[][..]));
        assert_eq!(second.commands, ["make e2e"]);
    }

    #[test]
    fn a_stated_result_is_compared() {
        for (text, line) in [
            ("`sh sub.sh 3 1` prints 2", "test \"$(sh sub.sh 3 1)\" = '2'"),
            ("`sh sub.sh` prints \"it's 2\".", "test \"$(sh sub.sh)\" = 'it'\\''s 2'"),
            ("`sh sub.sh 3 1` 输出 2", "test \"$(sh sub.sh 3 1)\" = '2'"),
            ("`sh a.sh` contains `two words`", "(sh a.sh) | grep -qF -- 'two words'"),
            ("`sh a.sh` exits with code 3", "(sh a.sh); test $? -eq 3"),
            ("`make test` passes", "make test"),
            ("`make test`", "make test"),
        ] {
            assert_eq!(stated(text), Stated::Checked(line.to_owned()), "{text}");
        }
        assert_eq!(stated("`sh a.sh` prints the number of its arguments"), Stated::Unclear);
        assert_eq!(stated("`count` handles blanks"), Stated::Words);
        assert_eq!(stated("it is dark"), Stated::Words);
    }

    #[test]
    fn every_problem_is_listed_with_its_line() {
        let text =
            "no title\n- [ ] do it\n  * Verify: lost\n- [ ] T-001: first\n- [ ] T-001: [P1] again\n  * Verify: \n";
        let problems: Vec<String> = parse(text).problems.iter().map(ToString::to_string).collect();
        let expected = [
            "line 1: the document has no title; begin it with `# …`",
            "line 2: a task begins with an id, such as `- [ ] T-001: [P0] …`",
            "line 4: T-001 has no priority; write `T-001: [P0] …`, P0 being the first",
            "line 4: T-001 cannot be verified; add a line `  * Verify: …` below it",
            "line 5: the id T-001 is used twice; give every task its own",
            "line 5: T-001 cannot be verified; add a line `  * Verify: …` below it",
            "line 6: the verification is empty",
        ];
        assert_eq!(problems, expected);
    }

    #[test]
    fn a_document_without_a_task_is_refused() {
        let problems = parse("# Nothing\n").problems;
        assert!(problems[0].message.starts_with("there is no task"), "{problems:?}");
    }
}

//! Compares what a model says in detail with the recorded facts: files, numbers, commands and commits.
//!
//! Each kind of claim is found in its direct forms, sentence by sentence. A claim that something denies is none.

use std::{collections::BTreeSet, path::Path, sync::LazyLock};

use interlock_verification::{PATH, is_same_file};
use regex::{Captures, Regex};
use serde_json::Value as Json;

use crate::asking::sentences;

const PASSES: &str =
    r"(?:now\s+)?(?:passes|passed|pass|succeeds|succeeded|(?:is|was|runs|ran)\s+(?:now\s+)?(?:clean|green|ok|fine))\b";

struct Forms {
    passive: Regex,
    active: Regex,
    path: Regex,
    denied: Regex,
    committed: Regex,
    tests: Regex,
    files: Regex,
    files_after: Regex,
    quoted: Regex,
    ran: Regex,
    plain: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let new = |text: &str| Regex::new(text).ok();
    let list =
        format!("[`\"'*]*{PATH}[`\"'*]*(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+|、|\\s*和\\s*)[`\"'*]*{PATH}[`\"'*]*)*");
    let verbs = "(?P<verb>written|created|added|updated|changed|modified|edited|deleted|removed|renamed|rewritten|fixed|extended|generated|wrote|rewrote|修改|更新|创建|新建|添加|删除|写|改)";
    let number = r"(?P<n>\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";
    Some(Forms {
        passive: new(&format!(
            "(?i)(?P<list>{list})\\s*(?:files?\\s+)?(?:(?:was|were|is|are|has|have|been|now|also|both|all|newly|已经?|被)\\s*)*{verbs}(?:了)?"
        ))?,
        active: new(&format!(
            "(?i){verbs}(?:了|\\s*:)?(?:\\s+(?P<prep>to|in|into|from))?(?:\\s*(?:the|a|an|new|file|files|script|document|manual|both|test|tests|old))*\\s*(?P<list>{list})"
        ))?,
        path: new(PATH)?,
        denied: new(
            r"(?i)\b(?:not|never|nothing|no|can|cannot|can't|couldn't|could|didn't|don't|doesn't|wasn't|weren't|isn't|aren't|should|would|will|must|unable|if|unless|to\s+be|earlier|previous(?:ly)?|yet)\b|没有|未|无法|不能|应该|需要|如果|之前",
        )?,
        committed: new(
            r"(?i)\b(?:committed|pushed|merged|deployed)\b|(?:已经?|并)(?:提交|推送|合并|部署)|(?:提交|推送|合并|部署)了",
        )?,
        tests: new(&format!(
            r"(?i)\b{number}\s+(?:(?:unit\s+)?(?:tests?|cases?|checks?|specs?)\s+)?(?:(?:have|has|now|all|are|is|do)\s+)*(?:pass(?:ed|es|ing)?|succeed(?:ed|s)?|green)\b|\ball\s+(?P<all>\d+)\s+(?:tests?|cases?|specs?)\b|(?P<zh>\d+)\s*(?:个|项|条)(?:单元)?(?:测试|用例)[^，。]{{0,6}}通过"
        ))?,
        files: new(&format!(
            r"(?i)\b{number}\s+files?\s+(?:(?:were|was|have|has|been|are|is)\s+)*(?:changed|modified|updated|edited|touched)\b|修改了\s*(?P<zh>\d+)\s*个文件"
        ))?,
        files_after: new(&format!(r"(?i)\b(?:changed|modified|updated|edited|touched)\s+{number}\s+files?\b"))?,
        quoted: new(&format!(
            r"(?i)`(?P<command>[^`]+)`\s+(?:(?:also|still)\s+)?(?:{PASSES}|exits?\s+(?:with\s+)?0)(?P<rest>.{{0,6}})"
        ))?,
        ran: new(r"(?i)\b(?:ran|executed|i've\s+run|have\s+run|运行了|执行了)\s*`(?P<command>[^`]+)`")?,
        plain: new(&format!(
            r"(?i)\b(?P<command>(?:make|cargo|npm|npx|yarn|pnpm|go|tox|just|ruff|mypy|eslint|pytest|mvn|gradle)(?:\s+(?:run\s+)?[\w:.-]+)??)\s+{PASSES}(?P<rest>.{{0,6}})"
        ))?,
    })
});

/// Returns the claims that the facts contradict, each as a line for people.
pub(crate) fn contradictions(words: &str, facts: &Json) -> Vec<String> {
    let Some(forms) = &*FORMS else { return Vec::new() };
    let facts = Facts::of(facts);
    let mut found = Vec::new();
    for sentence in sentences(words) {
        let said =
            |why: String| format!("the model says \"{}\", and {why}", sentence.chars().take(120).collect::<String>());
        let mut all = facts.of_files(forms, sentence);
        all.extend(facts.of_numbers(forms, sentence));
        all.extend(facts.of_commands(forms, sentence));
        if forms.claims(&forms.committed, sentence) {
            all.push("the turn committed nothing".to_owned());
        }
        found.extend(all.into_iter().map(said));
    }
    let mut seen = BTreeSet::new();
    found.retain(|line| seen.insert(line.clone()));
    found
}

impl Forms {
    /// Returns true if nothing denies a claim in its clause.
    fn is_held(&self, sentence: &str, start: usize, end: usize) -> bool {
        let clause = sentence[..start].rfind([',', ';', ':', '，', '、']).map_or(0, |at| at + 1);
        let clause = (clause..=start).find(|at| sentence.is_char_boundary(*at)).unwrap_or(start);
        !self.denied.is_match(&sentence[clause..end])
    }

    fn claims(&self, form: &Regex, sentence: &str) -> bool {
        form.find_iter(sentence).any(|found| self.is_held(sentence, found.start(), found.end()))
    }

    fn each<'s>(&self, form: &Regex, sentence: &'s str) -> Vec<Captures<'s>> {
        let held =
            |found: &Captures<'_>| found.get(0).is_some_and(|whole| self.is_held(sentence, whole.start(), whole.end()));
        form.captures_iter(sentence).filter(held).collect()
    }
}

/// The part of the facts that claims are compared with.
struct Facts {
    /// The changed files, and how each changed; `None` if the list is cut.
    files: Option<Vec<(String, String)>>,
    count: Option<u64>,
    /// The commands that ran, with their exit codes.
    commands: Vec<(String, Option<i64>)>,
    /// The numbers of tests that commands have reported.
    passed: BTreeSet<u64>,
}

impl Facts {
    fn of(facts: &Json) -> Self {
        let text = |of: &Json, name: &str| of[name].as_str().unwrap_or_default().to_owned();
        let list = |name: &str| facts[name].as_array().cloned().unwrap_or_default();
        let files: Vec<(String, String)> =
            list("files").iter().map(|file| (text(file, "path"), text(file, "how"))).collect();
        let count = facts["files_count"].as_u64();
        let commands = list("commands");
        let mut passed: BTreeSet<u64> = commands.iter().filter_map(|command| command["passed"].as_u64()).collect();
        passed.insert(commands.iter().filter_map(|command| command["passed"].as_u64()).sum());
        if commands.iter().all(|command| command["passed"].is_null()) {
            passed.clear();
        }
        Facts {
            files: count.is_none_or(|count| count == files.len() as u64).then_some(files),
            count,
            commands: commands
                .iter()
                .map(|command| (plain(&text(command, "command")), command["exit_code"].as_i64()))
                .collect(),
            passed,
        }
    }

    fn of_files(&self, forms: &Forms, sentence: &str) -> Vec<String> {
        let Some(files) = &self.files else { return Vec::new() };
        let mut found = Vec::new();
        for claim in [&forms.passive, &forms.active].into_iter().flat_map(|form| forms.each(form, sentence)) {
            let verb = claim["verb"].to_lowercase();
            let is_removal = ["deleted", "removed", "删除"].contains(&verb.as_str()) && claim.name("prep").is_none();
            for path in forms.path.find_iter(claim.name("list").map_or("", |list| list.as_str())) {
                let changed = files.iter().find(|(changed, _)| is_same_file(Path::new(changed), path.as_str()));
                match changed {
                    None => found.push(format!("the turn did not change {}", path.as_str())),
                    Some((_, how)) if is_removal && how != "deleted" => {
                        found.push(format!("{} was not deleted", path.as_str()))
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn of_numbers(&self, forms: &Forms, sentence: &str) -> Vec<String> {
        let mut found = Vec::new();
        let said = |claim: &Captures<'_>| ["n", "all", "zh"].iter().find_map(|name| number(claim.name(name)?.as_str()));
        for claim in forms.each(&forms.tests, sentence) {
            if let Some(count) = said(&claim).filter(|count| !self.passed.is_empty() && !self.passed.contains(count)) {
                let shown: Vec<String> = self.passed.iter().map(u64::to_string).collect();
                found.push(format!("not {count} but {} tests passed", shown.join(" or ")));
            }
        }
        for claim in [&forms.files, &forms.files_after].into_iter().flat_map(|form| forms.each(form, sentence)) {
            if let (Some(count), Some(changed)) = (said(&claim), self.count)
                && count != changed
            {
                found.push(format!("not {count} but {changed} files changed"));
            }
        }
        found
    }

    fn of_commands(&self, forms: &Forms, sentence: &str) -> Vec<String> {
        let mut found = Vec::new();
        let ends = |claim: &Captures<'_>| {
            let rest = claim.name("rest").map_or("", |rest| rest.as_str()).trim_start();
            rest.is_empty()
                || rest.starts_with(['.', ',', ';', ':', '!', ')', '('])
                || ["now", "too", "and", "on", "with", "again", "as", "(ex"].iter().any(|word| rest.starts_with(word))
        };
        let passes = [&forms.quoted, &forms.plain].into_iter().flat_map(|form| forms.each(form, sentence)).filter(ends);
        for (claim, must_pass) in passes
            .map(|claim| (claim, true))
            .chain(forms.each(&forms.ran, sentence).into_iter().map(|claim| (claim, false)))
        {
            let command = plain(&claim["command"]);
            // A name of a file or of a function in backquotes is no command.
            if command.contains(['(', '=']) || !command.contains(' ') && command.contains(['.', '/', '_']) {
                continue;
            }
            let run = self.commands.iter().rev().find(|(line, _)| line.contains(&command));
            match run {
                None => found.push(format!("`{command}` was not run")),
                Some((_, code)) if must_pass && *code != Some(0) => found.push(format!("`{command}` failed")),
                _ => {}
            }
        }
        found
    }
}

fn plain(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn number(word: &str) -> Option<u64> {
    const WORDS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    word.parse().ok().or_else(|| WORDS.iter().position(|known| known.eq_ignore_ascii_case(word)).map(|at| at as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts() -> Json {
        json!({
            "files": [{ "path": "src/count.sh", "how": "changed" }, { "path": "old.txt", "how": "deleted" }],
            "files_count": 2,
            "commands": [{ "command": "make test", "exit_code": 0, "passed": 5, "failed": 0 }, { "command": "make bench", "exit_code": 2 }],
        })
    }

    #[test]
    fn false_details_are_found() {
        for (words, expected) in [
            ("docs/help.md was written.", "the turn did not change docs/help.md"),
            ("I created `docs/help.md` and changed count.sh.", "the turn did not change docs/help.md"),
            ("docs/help.md was written, base.txt deleted, 5 tests pass.", "the turn did not change base.txt"),
            ("I deleted count.sh.", "count.sh was not deleted"),
            ("All 12 tests pass", "not 12 but 5 tests passed"),
            ("3 files changed", "not 3 but 2 files changed"),
            ("`make lint` is clean.", "`make lint` was not run"),
            ("make lint passes", "`make lint` was not run"),
            ("`make bench` passes.", "`make bench` failed"),
            ("It works, committed as abc123 and pushed.", "the turn committed nothing"),
            ("已创建 docs/help.md，并提交", "the turn committed nothing"),
            ("创建了 docs/help.md", "the turn did not change docs/help.md"),
            ("12 个测试全部通过", "not 12 but 5 tests passed"),
        ] {
            let found = contradictions(words, &facts());
            assert!(found.iter().any(|line| line.ends_with(expected)), "{words}: {found:?}");
        }
    }

    #[test]
    fn true_details_are_no_contradictions() {
        for words in [
            "count.sh was changed, and I removed old.txt. `make test` passes (exit code 0), and all 5 tests pass.",
            "Changed src/count.sh. It reads config.toml as before. Nothing was committed.",
            "2 files were changed; `make lint` was not run.",
            "count.sh prints the number of its arguments. `make test` passes.",
            "`count` passes the arguments to wc. I added a call of lib.sh.",
            "To commit it, send COMMIT. It can be committed with `interlock send`.",
            "To roll back: `interlock undo c1`.",
        ] {
            assert_eq!(contradictions(words, &facts()), [""; 0], "{words}");
        }
    }
}

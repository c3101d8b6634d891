//! Code that runs on this computer: the lines that a case executes are not known, so a person must confirm the patches
//! of templates.

use std::fs;

use interlock_testkit_cli::session::{Session, Transcript};
use tempfile::TempDir;

use super::scene::is_missing;

const SOURCE: &str = "int sum(const int *values, int count) {\n    int all = 0;\n    for (int i = 0; i <= count; i++) {\n        all += values[i];\n    }\n    return all;\n}\n";

/// A test program that prints TAP, which names no source location.
const TESTS: &str = r#"#include <stdio.h>
int sum(const int *values, int count);
static void check(int number, const char *name, int is_so) { printf("%s %d - %s\n", is_so ? "ok" : "not ok", number, name); }
int main(void) {
    int values[] = { 1, 2, 3, 4 };
    printf("1..2\n");
    check(1, "sum_of_three", sum(values, 3) == 6);
    check(2, "sum_of_none", sum(values, 0) == 0);
    return 0;
}
"#;

const TASK: &str = r#"goal: All sums are right
repo_path: .
build: { commands: ["cc -g -o sums src/sum.c tests/main.c"], image: sums, needs: [cc] }
test_profile:
  env_type: local
  cases: [sum_of_three, sum_of_none]
  format: tap
  timeout_sec: 20
  config: { command: ./sums }
constraints: { max_iterations: 3, allowed_paths: ["src/**"] }
"#;

/// A program with a bug, its tests and its task.
struct Sums {
    folder: TempDir,
    session: Session,
}

impl Sums {
    /// Makes the project with these replacements; `None` if a required program is missing.
    fn with(changes: &[(&str, &str)]) -> Option<Self> {
        if is_missing(&["cc", "git"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        for (name, text) in [("src/sum.c", SOURCE), ("tests/main.c", TESTS), ("task.yaml", TASK)] {
            let path = project.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = changes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
            fs::write(path, text).unwrap();
        }
        let home = folder.path().join("home").display().to_string();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &project).with("INTERLOCK_HOME", home);
        Some(Sums { folder, session })
    }

    fn source(&self) -> String {
        fs::read_to_string(self.folder.path().join("project/src/sum.c")).unwrap()
    }

    fn run(&self) -> Transcript {
        self.session.run("run firmware --input task.yaml --name sums").unwrap()
    }

    fn does(&self, line: &str, code: i32) -> Transcript {
        let done = self.session.run(line).unwrap();
        assert_eq!(done.code, Some(code), "{line}: {done}");
        done
    }
}

#[test]
fn a_program_of_this_computer_is_repaired_when_a_person_has_read_the_patch() {
    let Some(sums) = Sums::with(&[("max_iterations: 3", "max_iterations: 3, human_review: true")]) else { return };
    let waits = sums.run();
    assert_eq!(waits.code, Some(4), "{waits}");
    assert_eq!(sums.source(), SOURCE, "nothing is changed yet");
    let unread = sums.does(r#"send sums approve --data '{"nonsense":1}'"#, 2);
    assert!(unread.stderr.contains("`nonsense` is not known here; there are no fields"), "{unread}");
    let unread = sums.does(r#"send sums reject --data '{"text":"no","why":"no"}'"#, 2);
    assert!(unread.stderr.contains("`why` is not known here; the fields are text"), "{unread}");
    sums.does("send sums approve", 0);
    assert_eq!(sums.source(), SOURCE.replace("i <= count", "i < count"));
    assert!(!sums.folder.path().join("project/sums").exists(), "what was built was built elsewhere");
}

#[test]
fn what_is_only_plausible_is_not_brought_into_the_sources() {
    let Some(sums) = Sums::with(&[]) else { return };
    let done = sums.run();
    assert_eq!(done.code, Some(1), "{done}");
    let trace = sums.does("trace sums", 0).stdout;
    assert!(trace.contains("plausible, not proven"), "{trace}");
    assert_eq!(trace.matches("test_finished").count(), 1, "running it again would show nothing new: {trace}");
    assert_eq!(sums.source(), SOURCE);
    let report = sums.does("report sums", 0).stdout;
    assert!(report.contains("+    for (int i = 0; i < count; i++) {"), "{report}");
}

#[test]
fn a_person_vouches_for_what_is_plausible_or_has_another_patch_looked_for() {
    let Some(sums) = Sums::with(&[("max_iterations: 3", "max_iterations: 3, allow_human: true")]) else { return };
    let waits = sums.run();
    assert_eq!(waits.code, Some(4), "{waits}");
    let shown = sums.does("show sums", 0).stdout;
    assert!(shown.contains("PLAUSIBLE_FIX") && shown.contains("+    for (int i = 0; i < count; i++) {"), "{shown}");
    sums.does(r#"send sums reject --data '{"text":"another"}'"#, 4);
    let another = sums.does("show sums", 0).stdout;
    let found = |shown: &str| shown.lines().find(|line| line.contains("patch_found")).unwrap().to_owned();
    assert!(another.contains("PLAUSIBLE_FIX") && found(&another) != found(&shown), "{another}");
    assert_eq!(sums.source(), SOURCE);
    sums.does("send sums approve", 0);
    assert_ne!(sums.source(), SOURCE);
    sums.does("undo sums", 0);
    assert_eq!(sums.source(), SOURCE);
}

#[test]
fn where_every_case_passes_there_is_nothing_to_repair() {
    let Some(sums) = Sums::with(&[("i <= count", "i < count")]) else { return };
    let done = sums.run();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stderr.contains("nothing to repair: 2 of 2 cases pass on the untouched tree"), "{done}");
    let report = sums.does("report sums", 0).stdout;
    assert!(report.contains("nothing to repair"), "{report}");
}

#[test]
fn what_repairs_a_part_is_a_round_of_its_own() {
    // The bug of `product` is in a test, which no patch may change.
    let more = "int sum(const int *values, int count);\nstatic int product(int a, int b) { return a * b + 4242; }";
    let Some(sums) = Sums::with(&[
        ("int sum(const int *values, int count);", more),
        ("1..2", "1..3"),
        ("    return 0;\n}\n", "    check(3, \"product\", product(7, 11) == 77);\n    return 0;\n}\n"),
        ("sum_of_none]", "sum_of_none, product]"),
        // Some of the tried patches cause endless loops.
        ("timeout_sec: 20", "timeout_sec: 2"),
    ]) else {
        return;
    };
    let before = sums.source();
    let done = sums.run();
    assert_eq!(done.code, Some(1), "{done}");
    assert!(done.stderr.contains("it repairs a part"), "{done}");
    assert!(done.stderr.contains("improved: 2 target cases pass, 0 before"), "{done}");
    assert_eq!(sums.source(), before, "a part is not brought into the sources");
}

/// The second bug shows only after the first is repaired.
#[test]
fn a_report_has_the_patches_of_all_rounds() {
    let product = "return all;\n}\nint product(int a, int b) {\n    int all = 0;\n    for (unsigned i = 0; i <= a; i++) {\n        all += b;\n    }\n    return all;\n}";
    let Some(sums) = Sums::with(&[
        ("return all;\n}", product),
        (
            "int sum(const int *values, int count);",
            "int sum(const int *values, int count);\nint product(int a, int b);",
        ),
        ("1..2", "1..3"),
        (
            "    return 0;\n}\n",
            "    check(3, \"both\", sum(values, 3) == 6 && product(7, 11) == 77);\n    return 0;\n}\n",
        ),
        ("sum_of_none]", "sum_of_none, both]"),
        ("timeout_sec: 20", "timeout_sec: 1"),
    ]) else {
        return;
    };
    let done = sums.run();
    assert_eq!(done.code, Some(1), "{done}");
    assert!(done.stderr.contains("it repairs a part") && done.stderr.contains("plausible, not proven"), "{done}");
    let report = sums.does("report sums --format json", 0).stdout;
    let patch = serde_json::from_str::<serde_json::Value>(&report).unwrap()["story"].to_string();
    for line in ["+    for (int i = 0; i < count; i++) {", "+    for (unsigned i = 0; i < a; i++) {"] {
        assert!(patch.contains(line), "{patch}");
    }
}

/// A run without a model that finds no repair ends with a message that names the problem.
#[test]
fn a_run_that_finds_no_patch_says_why() {
    let check = |changes: &[(&str, &str)], expected: &[&str]| {
        let Some(sums) = Sums::with(changes) else { return };
        let done = sums.run();
        assert_eq!(done.code, Some(1), "{changes:?}: {done}");
        let last = done.stderr.lines().rev().find(|line| line.contains("→ FAILURE")).unwrap_or_default();
        for words in expected {
            assert!(last.contains(words), "{changes:?}: `{words}` is not in\n{last}");
        }
    };
    check(&[("cc -g", "no-such-cc -g")], &["TOOLCHAIN_MISSING", "the program no-such-cc"]);
    check(&[("cc -g -o sums src/sum.c", "make all; cc -g -o sums src/sun.c")], &["src/sun.c"]);
    check(&[("sums src/sum.c", "sums ../src/sum.c")], &["../src/sum.c", "not in a git repository"]);
    check(&[("[sum_of_three,", "[sum_of_tree,")], &["`sum_of_tree` is not reported", "did you mean `sum_of_three`?"]);
    check(&[("image: sums", "image: suns")], &["did not create suns"]);
    check(&[("format: tap", "format: junit")], &["as `junit` the tests report no case, as `tap` 2 cases"]);
    check(&[(r#"["src/**"]"#, r#"["source/**"]"#)], &["none of 2 C sources may be changed", "allowed_paths"]);
    check(
        &[
            ("int all = 0;", "int all = 7;"),
            ("for (int i = 0; i <= count; i++) {", "if (count) {"),
            ("values[i]", "values[0] * 9 + 3"),
        ],
        &["candidates"],
    );
}

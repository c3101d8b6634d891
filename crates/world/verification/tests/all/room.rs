//! What the room measures, told as changes of small projects. The corpus has many more.

use interlock_verification::Verdict;

use crate::project::Project;

const COMMAND: &str = "sh tests/run.sh";

/// A shell project with one test, which passes.
fn project() -> Project {
    let mut project = Project::new();
    project.write("count.sh", "echo $#\n");
    project.write("tests/run.sh", "test \"$(sh count.sh a b)\" = 2\n");
    project.write(".gitignore", "lib/\nnode_modules/\n");
    project.commit();
    project.begin();
    project
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_change_is_verified_and_says_what_was_measured() {
    let project = project();
    project.write("count.sh", "set -- \"$@\"\necho $#\n");
    let verdict = project.verify(COMMAND, &[]).await;
    assert!(verdict.is_verified() && verdict.warnings.is_empty(), "{}", verdict.summary());
    assert!(verdict.summary().contains("the check passed before the change"), "{}", verdict.summary());
    assert!(verdict.evidence.iter().any(|file| file.name == "verification"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_git_ignores_is_not_there() {
    let project = project();
    project.write("lib/helper.sh", "number() { echo \"$1\"; }\n");
    project.write("count.sh", ". ./lib/helper.sh\nnumber $#\n");
    let verdict = project.verify(COMMAND, &[]).await;
    assert!(verdict.failed().is_some(), "the commit would fail: {}", verdict.summary());
    assert!(verdict.notes.iter().any(|note| note.contains("lib/helper.sh")), "{:?}", verdict.notes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_uncommitted_file_of_a_person_is_not_there() {
    let mut project = project();
    project.write("mine.sh", "number() { echo \"$1\"; }\n");
    project.begin();
    project.write("count.sh", ". ./mine.sh\nnumber $#\n");
    let verdict = project.verify(COMMAND, &[]).await;
    assert!(verdict.failed().is_some(), "the commit would fail: {}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_repository_has_what_a_clone_has() {
    let command = "git status >/dev/null && git cat-file -e HEAD:count.sh && ls .git && sh tests/run.sh";
    let number = "echo $#\n";
    let verdict = {
        let project = project();
        project.write("count.sh", "set -- \"$@\"\necho $#\n");
        project.verify(command, &[]).await
    };
    assert!(verdict.is_verified(), "{}", verdict.summary());
    for path in [".git/number.sh", ".git/modules/x/number.sh", ".git/hooks/pre-push", ".git/info/exclude"] {
        let project = project();
        project.write(path, number);
        project.write("count.sh", &format!(". ./{path}\n"));
        let verdict = project.verify(command, &[]).await;
        assert!(verdict.failed().is_some(), "{path}: {}", verdict.summary());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_among_the_objects_is_hidden_and_objected_to() {
    let (project, path) = (project(), ".git/objects/ab/0123456789abcdef0123456789abcdef012345");
    project.write(path, "echo $#\n");
    project.write("count.sh", "set -- \"$@\"\necho $#\n");
    let verdict = project.verify(COMMAND, &[]).await;
    assert!(verdict.objections.iter().any(|why| why.contains(path)), "{}", verdict.summary());
    project.write("count.sh", &format!(". ./{path}\n"));
    let verdict = project.verify(COMMAND, &[]).await;
    assert!(verdict.failed().is_some(), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_linked_worktree_has_its_repository_too() {
    let mut project = project();
    project.move_to_worktree();
    project.begin();
    project.write("count.sh", "set -- \"$@\"\necho $#\n");
    let command = "git cat-file -e HEAD:count.sh && test \"$(git branch --show-current)\" = linked && sh tests/run.sh";
    let verdict = project.verify(command, &[]).await;
    assert!(verdict.is_verified(), "{}", verdict.summary());
    project.write("../main/.git/number.sh", "echo $#\n");
    project.write("count.sh", ". ../main/.git/number.sh\n");
    let verdict = project.verify(command, &[]).await;
    assert!(verdict.failed().is_some(), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_of_tools_are_kept_from_the_tree_before_the_change() {
    let project = project();
    project.write("count.sh", "set -- \"$@\"\necho $#\n");
    let command =
        "ls \"$GOCACHE\" 2>/dev/null; mkdir -p \"$GOCACHE\" && date +%N > \"$GOCACHE/$(date +%N)\" && sh tests/run.sh";
    let verdict = project.verify(command, &[]).await;
    assert!(verdict.is_verified(), "{}", verdict.summary());
    assert_eq!(verdict.runs[0].log.text, "", "nobody has filled it yet");
    let verdict = project.verify(command, &[]).await;
    let files = verdict.runs[0].log.text.lines().count();
    assert_eq!(files, 1, "only the run on the base tree fills it: {}", verdict.runs[0].log.text);
}

/// A project whose test uses a dependency.
fn with_dependency() -> Project {
    let project = Project::new();
    project.write("count.sh", "echo $#\n");
    project.write("tests/run.sh", ". ./node_modules/tape/check.sh\ncheck \"$(sh count.sh a b)\" 2\n");
    project.write(".gitignore", "node_modules/\n");
    project.commit();
    project.write("node_modules/tape/check.sh", "check() { test \"$1\" = \"$2\"; }\n");
    project
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replaced_dependency_is_objected_to() {
    let mut project = with_dependency();
    project.begin();
    project.write("count.sh", "echo 7\n");
    project.write("node_modules/tape/check.sh", "check() { true; }\n");
    for run in ["continued", "continued-again"] {
        let verdict = project.verify(COMMAND, &[]).await;
        assert!(verdict.objections.iter().any(|text| text.contains("node_modules/tape")), "{}", verdict.summary());
        project.fork(run);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dependencies_that_nobody_listed_are_a_warning_each_time() {
    let mut project = with_dependency();
    project.begin_unlisted();
    project.write("node_modules/tape/check.sh", "check() { true; }\n");
    project.write("count.sh", "echo 7\n");
    for _ in 0..2 {
        let verdict = project.verify(COMMAND, &[]).await;
        assert!(verdict.warnings.iter().any(|warning| warning.code == "dependencies_unknown"), "{}", verdict.summary());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_inside_of_dependencies_are_empty() {
    let mut project = Project::new();
    project.write("count.sh", "echo $#\n");
    project.write("tests/run.sh", "! . ./node_modules/.cache/answer 2> /dev/null\ntest \"$(sh count.sh a b)\" = 2\n");
    project.write(".gitignore", "node_modules/\n");
    project.commit();
    project.write("node_modules/tape/check.sh", "true\n");
    project.begin();
    project.write("count.sh", "echo 7\n");
    project.write("node_modules/.cache/answer", "exit 0\n");
    let verdict = project.verify("bash tests/run.sh", &[]).await;
    assert!(verdict.failed().is_some(), "{}", verdict.summary());
}

/// A shell project whose check reads a setting and a makefile.
fn with_settings() -> Project {
    let mut project = Project::new();
    project.write("count.sh", "echo $#\n");
    project.write("pytest.ini", "[pytest]\n");
    project.write("rules.mk", "RUN = sh tests/run.sh\n");
    project.write("Makefile", "include rules.mk\ntest:\n\t@cat pytest.ini > /dev/null\n\t@$(RUN)\n");
    project.write("tests/run.sh", "test \"$(sh count.sh a b)\" = 2\n");
    project.write("tox.ini", "[tox]\n");
    project.commit();
    project.begin();
    project.write("count.sh", "set -- \"$@\"\necho $#\n");
    project
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_setting_counts_only_if_the_check_reads_it() {
    let project = with_settings();
    project.write("tox.ini", "[tox]\nenvlist = none\n");
    let unread = project.verify("make test", &[]).await;
    assert!(unread.is_verified(), "{}", unread.summary());
    project.write("pytest.ini", "[pytest]\naddopts = -k nothing\n");
    let read = project.verify("make test", &[]).await;
    let said = read.objections.join("; ");
    assert!(said.contains("settings that this change wrote: pytest.ini"), "{}", read.summary());
    let accepted = project.verify("make test", &read.objections).await;
    assert!(accepted.is_verified(), "{}", accepted.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_build_file_is_a_warning() {
    let project = with_settings();
    project.write("rules.mk", "RUN = sh -e tests/run.sh\n");
    let verdict = project.verify("make test", &[]).await;
    let codes: Vec<&str> = verdict.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!((verdict.is_verified(), &codes[..]), (true, &["checks_changed"][..]), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_only_a_tool_can_know_is_a_warning() {
    let mut project = Project::new();
    project.write("count.sh", "echo $#\n");
    // The name is put together, as inside of a tool.
    project.write("tests/run.sh", "rc=.prove; cat ${rc}rc 2> /dev/null\ntest \"$(sh count.sh a b)\" = 2\n");
    project.commit();
    project.begin();
    project.write("count.sh", "set -- \"$@\"\necho $#\n");
    project.write(".proverc", "--dry\n");
    let verdict = project.verify(COMMAND, &[]).await;
    let codes: Vec<&str> = verdict.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!((verdict.is_verified(), &codes[..]), (true, &["checks_changed"][..]), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_looks_where_it_runs_is_a_warning() {
    let project = project();
    project.write("count.sh", "n=$#\nif [ -e /proc/self ]; then echo $n; else echo 7; fi\n");
    let verdict = project.verify(COMMAND, &[]).await;
    let codes: Vec<&str> = verdict.warnings.iter().map(|warning| warning.code).collect();
    assert!(codes.contains(&"surroundings"), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acceptance_is_for_one_content_only() {
    let project = project();
    project.write("count.sh", "echo 7\n");
    project.write("tests/run.sh", "test \"$(sh count.sh a b)\" = 7\n");
    let first = project.verify(COMMAND, &[]).await;
    assert!(!first.is_verified(), "{}", first.summary());
    assert!(first.evidence.iter().any(|file| file.name == "changed_checks"), "both texts are shown");
    let accepted = project.verify(COMMAND, &first.objections).await;
    assert!(accepted.is_verified(), "{}", accepted.summary());
    project.write("tests/run.sh", "true\n");
    let again = project.verify(COMMAND, &first.objections).await;
    assert!(!again.is_verified(), "{}", again.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_no_test_touches_is_a_warning() {
    let project = project();
    project.write("other.sh", "echo other\n");
    let verdict = project.verify(COMMAND, &[]).await;
    let codes: Vec<&str> = verdict.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!((verdict.is_verified(), &codes[..]), (true, &["untested"][..]), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_of_the_turn_do_not_switch_the_room_off() {
    let project = project();
    let off = "base = false\nold_checks = false\nable_to_fail = false\n";
    project.write(".interlock/verification.toml", off);
    project.write("count.sh", "echo 7\n");
    project.write("tests/run.sh", "true\n");
    let verdict = project.verify(COMMAND, &[]).await;
    assert!(!verdict.is_verified(), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_project_switches_off_is_said() {
    let mut project = Project::new();
    project.write("count.sh", "echo $#\n");
    project.write("tests/run.sh", "true\n");
    project.write(".interlock/verification.toml", "able_to_fail = false\n");
    project.commit();
    project.begin();
    project.write("count.sh", "echo 7\n");
    let verdict = project.verify(COMMAND, &[]).await;
    let said: Vec<&str> = verdict.warnings.iter().map(|warning| &*warning.text).collect();
    assert!(said.iter().any(|text| text.contains("the proof that the check can fail")), "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_workspace_stays_as_it_is() {
    let project = project();
    project.write("count.sh", "echo $# | tee made.txt\n");
    project.verify("sh tests/run.sh; rm -rf .git; echo gone > tests/run.sh; true", &[]).await;
    assert!(project.folder.join(".git").is_dir() && !project.folder.join("made.txt").exists());
    let test = std::fs::read_to_string(project.folder.join("tests/run.sh")).unwrap();
    assert!(test.starts_with("test "), "{test}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_no_check_can_see_is_untested() {
    for (path, text) in [
        ("manual.md", "# Manual\n"),
        ("docs/manual.md", "lorem ipsum\n"),
        ("count.sh", "echo $#\n# The crash with blanks is fixed.\n"),
        ("count.sh", "echo $#\nif test \"$1\" = --help; then\n  echo help\nfi\n"),
    ] {
        let project = project();
        project.write(path, text);
        let verdict = project.verify(COMMAND, &[]).await;
        assert!(verdict.is_verified(), "{}", verdict.summary());
        assert_eq!(verdict.warnings.first().map(|warning| warning.code), Some("untested"), "{path}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_file_that_no_check_misses_is_untested() {
    let mut project = Project::new();
    project.write("count.sh", "echo $#\n");
    project.write("old.txt", "old\n");
    project.write("tests/run.sh", "test \"$(sh count.sh a b)\" = 2\n");
    project.commit();
    project.begin();
    std::fs::remove_file(project.folder.join("old.txt")).unwrap();
    let verdict = project.verify(COMMAND, &[]).await;
    assert_eq!(verdict.warnings.first().map(|warning| warning.code), Some("untested"), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_copy_is_what_git_checks_out() {
    let mut project = Project::new();
    project.write("count.sh", "echo 0\n");
    project.write("tests/run.sh", "test \"$(sh count.sh a b)\" = 2\n");
    project.write(".gitattributes", "count.sh text eol=crlf\n");
    project.commit();
    project.begin();
    project.write("count.sh", "echo $#\n");
    let verdict = project.verify(COMMAND, &[]).await;
    let clone = project.committed();
    let in_clone = std::process::Command::new("sh").arg("tests/run.sh").current_dir(clone).status().unwrap();
    assert!(verdict.failed().is_some() && !in_clone.success(), "{}", verdict.summary());
}

/// Verifies one change of a project of these files, which is green before.
async fn verdict_of(files: &[(&str, &str)], command: &str, change: &[(&str, &str)]) -> Verdict {
    let mut project = Project::new();
    files.iter().for_each(|(path, text)| project.write(path, text));
    project.commit();
    project.begin();
    change.iter().for_each(|(path, text)| project.write(path, text));
    project.verify(command, &[]).await
}

fn codes(verdict: &Verdict) -> Vec<&str> {
    verdict.warnings.iter().map(|warning| warning.code).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_that_compares_the_text_of_a_source_does_not_show_what_it_does() {
    let files = [("count.sh", "echo $#\n"), ("tests/run.sh", "test \"$(sh count.sh a b)\" = 2\n")];
    let change = [
        ("count.sh", "echo $#\ntwice() {\n    echo 3\n}\n"),
        (
            "tests/sum.sh",
            "case $(cksum < count.sh) in 885374470*) echo ok 2 - twice ;; *) echo not ok 2 - twice; exit 1 ;; esac\n",
        ),
        ("tests/run.sh", "test \"$(sh count.sh a b)\" = 2 && . tests/sum.sh\n"),
    ];
    let verdict = verdict_of(&files, COMMAND, &change).await;
    assert!(verdict.failed().is_none(), "{}", verdict.summary());
    let said = verdict.summary();
    assert!(said.contains("turns red for any inserted line"), "{said}");
    assert!(codes(&verdict).contains(&"untested"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_that_no_case_asks_for_are_untested() {
    for text in ["test $# -lt 9 && echo $# || echo 7\n", "if test $# -lt 9; then echo $#; else echo 7; fi\n"] {
        let verdict = verdict_of(
            &[("count.sh", "echo $#\n"), ("tests/run.sh", "test \"$(sh count.sh a b)\" = 2\n")],
            COMMAND,
            &[("count.sh", text)],
        )
        .await;
        assert_eq!(codes(&verdict), ["untested"], "{text}: {}", verdict.summary());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_before_what_is_included_is_objected_to() {
    let source = "#include \"calc.h\"\nint twice(int a) { return 2 * a; }\n";
    let test = "#include \"calc.h\"\n#include <assert.h>\nint main(void) { assert(twice(2) == 4); return 0; }\n";
    let files = [("src/calc.c", source), ("src/calc.h", "int twice(int a);\n"), ("tests/test.c", test)];
    let command = "cc -Isrc -o t src/calc.c tests/test.c && ./t";
    let shadow = ("src/assert.h", "#define assert(a) ((void)(a))\n");
    let verdict = verdict_of(&files, command, &[("src/calc.c", &source.replace("2 * a", "a")), shadow]).await;
    let said = verdict.objections.join("; ");
    assert!(
        said.contains("stand before what unchanged files import: src/assert.h (for tests/test.c)"),
        "{}",
        verdict.summary()
    );
    let other = [("src/calc.c", &*source.replace("2 * a", "a + a")), ("src/other.h", "int other(void);\n")];
    let verdict = verdict_of(&files, command, &other).await;
    assert!(verdict.is_verified(), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_changes_a_library_is_objected_to() {
    let source = "def twice(a):\n    return 2 * a\n";
    let test = "import math, calc\nassert calc.twice(2) == math.floor(4.5)\nprint('ok 1 - twice')\n";
    let patched = "import math\n\n\ndef twice(a):\n    return a\n\n\nmath.floor = twice\nmath.floor = lambda a: 2\n";
    let verdict = verdict_of(
        &[("calc.py", source), ("tests/t.py", test)],
        "PYTHONPATH=. python3 tests/t.py",
        &[("calc.py", patched)],
    )
    .await;
    let said = verdict.objections.join("; ");
    assert!(
        said.contains("replace parts of code that is not the project's: `math.floor` in calc.py"),
        "{}",
        verdict.summary()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_name_no_cases_are_compared_with_those_before() {
    let files = [("count.sh", "echo $#\n"), ("tests/run.sh", "test \"$(sh count.sh a b)\" = 2 && echo fine in 3 ms\n")];
    let change = ("count.sh", "set -- \"$@\"\necho $#\n");
    let same = verdict_of(&files, COMMAND, &[change]).await;
    assert_eq!(codes(&same), [""; 0], "{}", same.summary());
    let other = ("tests/run.sh", "test \"$(sh count.sh a b)\" = 2 && echo done\n");
    let other = verdict_of(&files, COMMAND, &[change, other]).await;
    assert!(other.is_verified() && codes(&other).contains(&"cases_unreadable"), "{}", other.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_a_makefile_includes_is_a_build_file() {
    let makefile = "include checks.list\ntest: $(CHECKS)\nsome:\n\t@sh count.sh a b | grep -qx 2\nnone:\n\t@sh count.sh | grep -qx 0\n";
    let files = [("Makefile", makefile), ("checks.list", "CHECKS = some none\n"), ("count.sh", "echo $#\n")];
    let verdict = verdict_of(&files, "make test", &[("checks.list", "CHECKS = some\n")]).await;
    assert_eq!(codes(&verdict), ["checks_changed"], "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_of_the_environment_is_measured_again() {
    let mut project = Project::new();
    project.write("count.sh", "echo $#\n");
    project.write("tests/run.sh", "interlock-missing-program\n");
    project.commit();
    project.begin();
    project.write("tests/run.sh", "test \"$(sh count.sh a b)\" = 2\n");
    for _ in 0..2 {
        let verdict = project.verify(COMMAND, &[]).await;
        let ran = verdict.evidence.iter().any(|file| file.name == "base.stderr");
        assert!(ran, "the run on the base tree is made again: {}", verdict.summary());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_broken_text_is_counted() {
    let project = project();
    project.write("count.sh", "set -- \"$@\"\nset -e\necho $#\n");
    let verdict = project.verify(COMMAND, &[]).await;
    assert!(verdict.shown.ends_with("broken 3 times → red 3"), "{}", verdict.shown);
}

/// A project of Python with a function, a case, and data that another check reads.
const DOUBLED: [(&str, &str); 4] = [
    ("calc.py", "def double(a):\n    return a + a\n"),
    (
        "test_calc.py",
        "import unittest\nfrom calc import double\n\nclass T(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(double(2), 4)\n",
    ),
    ("cases/numbers.txt", "1 2\n3 6\n"),
    (
        "check_cases.py",
        "import glob\nfrom calc import double\nfor name in glob.glob('cases/*'):\n    for line in open(name):\n        a, b = map(int, line.split())\n        assert double(a) == b\n",
    ),
];

const DOUBLED_CHECK: &str = "python3 -m unittest -v test_calc && python3 check_cases.py";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_equals_everything_is_objected_to() {
    let free =
        "class Any(int):\n    def __eq__(self, other):\n        return True\n\ndef double(a):\n    return Any(a * 3)\n";
    let verdict = verdict_of(&DOUBLED[..2], "python3 -m unittest -v test_calc", &[("calc.py", free)]).await;
    assert!(
        verdict.objections.iter().any(|text| text.contains("whatever values are expected")),
        "{}",
        verdict.summary()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_case_without_its_assertion_is_objected_to() {
    let without = DOUBLED[1].1.replace("self.assertEqual(double(2), 4)", "double(2)");
    let verdict = verdict_of(&DOUBLED, DOUBLED_CHECK, &[("test_calc.py", &without)]).await;
    assert!(
        verdict.objections.iter().any(|text| text.contains("whatever values are expected")),
        "{}",
        verdict.summary()
    );
    let constant = DOUBLED[1].1.replace("4)", "FOUR)").replace("class T", "FOUR = 4\n\nclass T");
    let verdict = verdict_of(&DOUBLED, DOUBLED_CHECK, &[("test_calc.py", &constant)]).await;
    assert!(verdict.is_verified(), "a constant is compared, too: {}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_of_a_check_that_is_gone_is_objected_to() {
    let verdict = verdict_of(&DOUBLED, DOUBLED_CHECK, &[("cases/numbers.txt", "1 2\n")]).await;
    assert!(verdict.objections.iter().any(|text| text.contains("gone or shorter")), "{}", verdict.summary());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_means_something_else_in_the_checks_is_objected_to() {
    let files = [("lib.sh", "count() {\n  echo $#\n}\n"), ("tests/run.sh", ". ./lib.sh\ntest \"$(count a b)\" = 2\n")];
    let other = "test() {\n  true\n}\ncount() {\n  echo 0\n}\n";
    let verdict = verdict_of(&files, "sh tests/run.sh", &[("lib.sh", other)]).await;
    assert!(verdict.objections.iter().any(|text| text.contains("`test` in lib.sh")), "{}", verdict.summary());
}

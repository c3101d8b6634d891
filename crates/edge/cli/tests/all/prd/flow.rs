//! From a requirement to the archive.

use interlock_testkit_cli::terminal::Terminal;

use super::scene::{PRD, Scene};

#[test]
fn three_tasks_of_a_python_project_become_three_commits_and_an_archive() {
    let scene = Scene::python().confirmed(PRD);
    assert_eq!(scene.context()["task"]["id"], "T-001", "a ticked box means nothing");
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.waits("send p1 code_changed", "IMPLEMENT_TASK");
    assert_eq!(scene.context()["task"]["id"], "T-002", "priority comes before the order of the document");
    let sentence = scene.json("report p1")["sentence"].as_str().unwrap().to_owned();
    assert!(
        sentence.contains("verified: `python3 -m unittest") && sentence.contains(" passed in record "),
        "{sentence}"
    );
    scene.python_task("subtract", "a - b", "subtract(3, 2) == 1");
    scene.waits("send p1 code_changed", "IMPLEMENT_TASK");
    scene.python_task("double", "a + a", "double(2) == 4");
    scene.waits("send p1 code_changed", "READY");
    let expected = [
        "docs: archive Arithmetic",
        "feat: [T-003] Double numbers",
        "feat: [T-002] Subtract numbers",
        "feat: [T-001] Add numbers",
        "docs: [PRD] Arithmetic",
        "first",
    ];
    assert_eq!(scene.log(), expected);
    assert_eq!(scene.git("status --porcelain --untracked-files=no"), "");
    let archive = scene.read("docs/prd/archive/sums.md");
    let commit = scene.git("rev-parse HEAD~2");
    assert!(archive.contains(&format!("### T-002: Subtract numbers\n\n- Status: DONE\n- Commit: {commit}\n- Files changed: calc.py, test_calc.py\n")), "{archive}");
    assert!(!scene.path().join("docs/prd/sums.md").exists());
    assert_eq!(scene.git("diff-tree --no-commit-id --name-only -r HEAD~4"), "docs/prd/sums.md");
    assert!(scene.context()["history"][0].as_str().unwrap().contains("Arithmetic: 3 done, 0 blocked"));
    scene.is_verified();
    let sentence = scene.json("report p1")["sentence"].as_str().unwrap().to_owned();
    assert!(sentence.contains("; verified: `"), "the archive is the machine's own record: {sentence}");
    assert_eq!(scene.run("send p1 CLOSE").code, Some(0));
}

#[test]
fn a_task_of_a_cargo_project_is_committed_after_two_fixes() {
    let prd = "# Sums\n\n- [ ] T-001: [P0] Add numbers (src/lib.rs)\n  * Verify: the tests pass\n";
    let scene = Scene::cargo().confirmed(prd);
    let text = |body: &str| {
        format!(
            "pub fn add(a: i32, b: i32) -> i32 {{\n    {body}\n}}\n\n#[test]\nfn adds() {{\n    assert_eq!(add(1, 2), 3);\n}}\n"
        )
    };
    scene.write("src/lib.rs", &text("a +"));
    scene.waits("send p1 code_changed", "APPLY_FIX");
    scene.write("src/lib.rs", &text("a - b"));
    scene.waits("send p1 fix_applied", "APPLY_FIX");
    let context = scene.context();
    assert!(context["last_error"].as_str().unwrap().contains("the test adds failed"), "{}", context["last_error"]);
    assert_eq!(context["attempts"].as_array().unwrap().len(), 2);
    scene.write("src/lib.rs", &text("a + b"));
    scene.waits("send p1 fix_applied", "READY");
    assert_eq!(scene.log()[1], "feat: [T-001] Add numbers");
    assert_eq!(scene.git("diff-tree --no-commit-id --name-only -r HEAD~1"), "src/lib.rs");
}

#[test]
fn a_prd_that_is_changed_after_it_was_shown_is_shown_again() {
    let scene = Scene::python();
    scene.planned(PRD);
    let shown = scene.context()["prd_hash"].clone();
    scene.write("docs/prd/sums.md", &PRD.replace("Add numbers", "Add integers"));
    scene.waits("send p1 Yes", "CONFIRMING");
    assert_ne!(scene.context()["prd_hash"], shown);
    assert_eq!(scene.context()["tasks"][0]["title"], "Add integers");
    scene.write("docs/prd/sums.md", "# Nothing\n");
    scene.waits("send p1 ok", "READY");
    assert!(scene.context()["last_error"].as_str().unwrap().contains("there is no task"));
    assert_eq!(scene.log(), ["first"]);
}

#[test]
fn a_prd_with_problems_is_refused_with_their_lines() {
    let scene = Scene::python();
    scene.waits("send p1 USER_INPUT_REQUIREMENT --data '{\"requirement\": \"do sums\"}'", "WRITE_PRD");
    scene.write("docs/prd/sums.md", "# Sums\n\n- [ ] T-001: add\n");
    scene.waits("send p1 prd_written --data '{\"path\": \"docs/prd/sums.md\"}'", "WRITE_PRD");
    let problems = scene.context()["prd_problems"].as_str().unwrap().to_owned();
    assert!(problems.contains("docs/prd/sums.md line 3: T-001 has no priority"), "{problems}");
    assert!(problems.contains("line 3: T-001 cannot be verified"), "{problems}");
}

#[test]
fn uncommitted_work_of_a_person_is_not_committed() {
    let scene = Scene::python();
    scene.write("notes.txt", "mine\n");
    scene.planned("# Sums\n\n- [ ] T-001: [P0] Add numbers\n  * Verify: the tests pass\n");
    scene.waits("send p1 go", "IMPLEMENT_TASK");
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.waits("send p1 code_changed", "READY");
    assert_eq!(scene.git("diff-tree --no-commit-id --name-only -r HEAD~1"), "calc.py\ntest_calc.py");
    assert!(scene.git("status --porcelain").contains("?? notes.txt"));
}

#[test]
fn a_second_session_gets_a_worktree() {
    let scene = Scene::python();
    let second = scene.run("run prd --set repo_path=. --name p2");
    assert!(second.stderr.contains("on the branch interlock/p2"), "{second}");
    let third = scene.run("run prd --set repo_path=. --name p3 --in-place");
    assert!(third.code == Some(4) && !third.stderr.contains("on the branch"), "{third}");
    let fourth = scene.run("run prd --set repo_path=. --set worktree=never --name p4");
    assert!(fourth.code == Some(4) && !fourth.stderr.contains("on the branch"), "{fourth}");
}

#[test]
fn a_checkpoint_is_a_tag_of_all_files() {
    let scene = Scene::python();
    scene.write("notes.txt", "mine\n");
    scene.planned(PRD);
    scene.waits("send p1 go", "IMPLEMENT_TASK");
    let tag = scene.context()["last_checkpoint"].as_str().unwrap().to_owned();
    assert_eq!(scene.git("tag"), tag);
    let digits = tag.strip_prefix("chk-").unwrap();
    assert!(digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{tag}");
    assert_eq!(scene.git(&format!("show {tag}:notes.txt")), "mine");
    assert_eq!(scene.git(&format!("rev-parse {tag}^")), scene.git("rev-parse HEAD"));
    assert!(!scene.git(&format!("ls-tree -r --name-only {tag}")).contains(".agent"));
    assert_eq!(scene.git("status --porcelain"), "?? .agent/\n?? notes.txt", "the tag changes no file and no index");
}

#[test]
fn a_person_at_a_terminal_says_go() {
    let scene = Scene::python();
    scene.planned(PRD);
    let mut terminal = Terminal::new(env!("CARGO_BIN_EXE_interlock"), &scene.session, "resume p1");
    terminal.answer("to filter", "Go\r");
    terminal.answer("IMPLEMENT_TASK takes", "");
    terminal.answer("to filter", "\x03");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    assert_eq!(scene.json("show p1")["place"], "IMPLEMENT_TASK");
}

//! Code that runs on this computer: nobody knows which lines a case executes, so a person vouches for what templates find.

use std::fs;

use interlock_testkit::session::Session;

use crate::scene::is_missing;

const SOURCE: &str = "int sum(const int *values, int count) {\n    int all = 0;\n    for (int i = 0; i <= count; i++) {\n        all += values[i];\n    }\n    return all;\n}\n";

/// Prints TAP, which names no place.
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
constraints: { max_iterations: 3, human_review: true, allowed_paths: ["src/**"] }
"#;

#[test]
fn a_program_of_this_computer_is_repaired_when_a_person_vouches_for_it() {
    if is_missing(&["cc", "git"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    for (name, text) in [("src/sum.c", SOURCE), ("tests/main.c", TESTS), ("task.yaml", TASK)] {
        let path = project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let home = folder.path().join("home").display().to_string();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &project).with("INTERLOCK_HOME", home);

    let waits = session.run("run firmware --input task.yaml --name sums").unwrap();
    assert_eq!(waits.code, Some(4), "{waits}");
    assert_eq!(fs::read_to_string(project.join("src/sum.c")).unwrap(), SOURCE, "nothing is changed yet");
    let done = session.run("send sums approve").unwrap();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(fs::read_to_string(project.join("src/sum.c")).unwrap(), SOURCE.replace("i <= count", "i < count"));
    assert!(!project.join("sums").exists(), "what was built was built elsewhere");
}

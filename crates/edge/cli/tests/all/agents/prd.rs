//! `prd` with agents: three tasks of a Cargo project with goose, and of a Python project with the driver `command`. One
//! task of each needs two fixes.

use interlock_testkit_activity::{model_server::Step, real_agents::RealAgent};
use serde_json::json;

use super::scene::Scene;

const PRD: &str = "\
# Arithmetic

## 1. Context and goals

Numbers are to be added, subtracted and doubled.

## 3. Tasks

- [ ] T-001: [P0] Add numbers
  * Verify: the tests pass
- [ ] T-002: [P1] Subtract numbers
  * Verify: the tests pass
- [ ] T-003: [P2] Double numbers
  * Verify: the tests pass
";

const JUDGES: &str = "[chains]\ndefault = [\"person\"]\n";

/// Plans and confirms the document, and expects that the agent does all of it.
fn works_through(scene: &Scene) {
    scene.write("../home/judges.toml", JUDGES);
    scene.leads_to("run prd --set repo_path=. --name r1", "READY");
    scene.leads_to("send r1 USER_INPUT_REQUIREMENT --data '{\"requirement\": \"do sums\"}'", "WRITE_PRD");
    scene.write("docs/prd/sums.md", PRD);
    scene.leads_to("send r1 prd_written --data '{\"path\": \"docs/prd/sums.md\"}'", "CONFIRMING");
    scene.leads_to("send r1 go", "READY");
    let expected = [
        "docs: archive Arithmetic",
        "feat: [T-003] Double numbers",
        "feat: [T-002] Subtract numbers",
        "feat: [T-001] Add numbers",
        "docs: [PRD] Arithmetic",
        "first",
    ];
    assert_eq!(scene.git("log --format=%s").lines().collect::<Vec<_>>(), expected);
    let trace = scene.run("trace r1").stdout;
    assert_eq!(trace.matches("fix_applied").count(), 2, "T-002 needs two fixes\n{trace}");
    assert_eq!(scene.run("verify r1").code, Some(0));
    assert_eq!(scene.run("send r1 CLOSE").code, Some(0));
}

/// Appends a function and its test to the crate.
fn rust(name: &str, body: &str, check: &str) -> String {
    format!(
        "cat >> src/lib.rs <<'END'\npub fn {name}(a: i32, b: i32) -> i32 {{\n    {body}\n}}\n\n#[test]\nfn {name}_works() {{\n    assert_eq!({check});\n}}\nEND"
    )
}

#[test]
fn goose_works_through_three_tasks_of_a_cargo_project() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n"),
        (".gitignore", "target\n"),
        ("src/lib.rs", "//! Sums.\n"),
    ];
    let done = || Step::say("Done.");
    let edit = |from: &str, to: &str| vec![Step::shell(&format!("sed -i 's/{from}/{to}/' src/lib.rs")), done()];
    let script = vec![
        ("Task T-001: Add", vec![Step::shell(&rust("add", "a + b", "add(1, 2), 3")), done()]),
        ("Task T-002: Subtract", vec![Step::shell(&rust("subtract", "a -", "subtract(3, 2), 1")), done()]),
        ("could not compile", edit("a -$", "a * b")),
        ("test result: FAILED", edit("a \\* b", "a - b")),
        ("Task T-003: Double", vec![Step::shell(&rust("double", "a + a + b", "double(2, 0), 4")), done()]),
    ];
    let Some(scene) = Scene::new(RealAgent::Goose, &files, script) else { return };
    works_through(&scene);
    assert_eq!(scene.git("diff-tree --no-commit-id --name-only -r HEAD~2"), "src/lib.rs");
}

/// Writes a module and its test.
fn python(name: &str, body: &str, check: &str) -> String {
    format!(
        "printf 'def {name}(a, b=0):\\n    return {body}\\n' > {name}.py; printf 'import unittest\\nfrom {name} import {name}\\n\\nclass Test(unittest.TestCase):\\n    def test_{name}(self):\\n        self.assertEqual({check})\\n' > test_{name}.py"
    )
}

#[test]
fn script_works_through_three_tasks_of_a_python_project() {
    let files = [
        ("pyproject.toml", "[project]\nname = \"calc\"\nversion = \"1\"\n"),
        (".gitignore", "__pycache__\n"),
        ("test_calc.py", "import unittest\n"),
    ];
    // The first fix of T-002 leaves another error, the second one is right.
    let fix = "if grep -q 'a -$' subtract.py; then sed -i 's/a -$/a * b/' subtract.py; else sed -i 's/a . b/a - b/' subtract.py; fi";
    let script = format!(
        "read -r prompt\ncase \"$prompt\" in\n*'The verification failed'*) {fix} ;;\n*T-001*) {} ;;\n*T-002*) {} ;;\n*T-003*) {} ;;\nesac\necho '{}'\n",
        python("add", "a + b", "add(1, 2), 3"),
        python("subtract", "a -", "subtract(3, 2), 1"),
        python("double", "a + a", "double(2), 4"),
        json!({ "type": "end", "reason": "done" }),
    );
    let scene = Scene::with_script(&files, &script);
    works_through(&scene);
    assert_eq!(scene.git("diff-tree --no-commit-id --name-only -r HEAD~2"), "subtract.py\ntest_subtract.py");
}

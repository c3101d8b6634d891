//! Detection on small project trees: one test per row of the table, and the rules between rows.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use interlock_project::{CONFIGURED, Detected, Kind, Redefinition, commands, content_hash, detect, redefined, renewed};
use tempfile::TempDir;

/// Creates a project of these files. A name that ends in `/` is a directory.
fn project(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    root
}

fn lines(detected: &Detected) -> Vec<String> {
    let line = |command: &interlock_project::Command| {
        format!("{:?}: {} ({})", command.kind, command.command, command.found_by).to_lowercase()
    };
    detected.commands.iter().map(line).collect()
}

/// Checks the commands that are detected in a project of these files.
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let root = project(files);
    let detected = detect(root.path());
    let expected: Vec<String> = expected.iter().map(|line| line.to_lowercase()).collect();
    assert_eq!(lines(&detected), expected);
    assert_eq!(detected.problems, [""; 0]);
}

#[test]
fn flutter_is_analysed_and_tested() {
    let pubspec = "name: app\ndependencies:\n  flutter:\n    sdk: flutter\n";
    check(
        &[("pubspec.yaml", pubspec), ("test/app_test.dart", "")],
        &["static: flutter analyze (pubspec.yaml)", "test: flutter test (pubspec.yaml)"],
    );
    check(&[("pubspec.yaml", pubspec)], &["static: flutter analyze (pubspec.yaml)"]);
}

#[test]
fn further_ecosystems_have_their_runners() {
    check(&[("App.sln", ""), ("App.csproj", "")], &["test: dotnet test (App.sln)"]);
    check(&[("mix.exs", "")], &["test: mix test (mix.exs)"]);
    check(&[("phpunit.xml.dist", "")], &["test: vendor/bin/phpunit (phpunit.xml.dist)"]);
    check(&[("Rakefile", "Rake::TestTask.new")], &["test: rake test (Rakefile)"]);
    check(&[("Rakefile", "task :doc")], &[]);
    check(&[("bun.lock", "")], &["test: bun test (bun.lock)"]);
    let tasks = "{ \"tasks\": { \"test\": \"deno test -A\" } }";
    check(&[("deno.json", tasks)], &["static: deno lint (deno.json)", "test: deno task test (deno.json)"]);
}

#[test]
fn dart_without_flutter_uses_its_own_tool() {
    check(
        &[("pubspec.yaml", "name: tool\n"), ("test/", "")],
        &["static: dart analyze (pubspec.yaml)", "test: dart test (pubspec.yaml)"],
    );
}

#[test]
fn cargo_is_checked_and_tested() {
    check(
        &[("Cargo.toml", "[package]\nname = \"a\"\n")],
        &["static: cargo check --workspace --all-targets (Cargo.toml)", "test: cargo test --workspace (Cargo.toml)"],
    );
}

#[test]
fn only_scripts_that_exist_are_run() {
    let package = r#"{ "scripts": { "lint": "eslint .", "test": "vitest run", "start": "vite" } }"#;
    check(&[("package.json", package)], &["static: npm run lint (package.json)", "test: npm run test (package.json)"]);
    let untested = r#"{ "scripts": { "test": "echo \"Error: no test specified\" && exit 1", "build": "tsc" } }"#;
    check(&[("package.json", untested)], &["build: npm run build (package.json)"]);
    check(&[("package.json", "{}")], &[]);
}

#[test]
fn the_package_manager_is_that_of_the_project() {
    let package = r#"{ "scripts": { "test": "jest" } }"#;
    check(&[("package.json", package), ("pnpm-lock.yaml", "")], &["test: pnpm run test (package.json)"]);
    check(&[("package.json", package), ("yarn.lock", "")], &["test: yarn run test (package.json)"]);
    let named = r#"{ "packageManager": "yarn@4.1.0", "scripts": { "test": "jest" } }"#;
    check(&[("package.json", named), ("package-lock.json", "")], &["test: yarn run test (package.json)"]);
}

#[test]
fn tox_runs_the_tests_of_a_python_project() {
    check(
        &[("tox.ini", "[tox]\n"), ("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\n")],
        &["static: ruff check . (pyproject.toml)", "test: tox (tox.ini)"],
    );
}

#[test]
fn pytest_runs_if_the_project_names_it() {
    check(
        &[("pyproject.toml", "[project.optional-dependencies]\ndev = [\"pytest\"]\n[tool.mypy]\n")],
        &["static: mypy . (pyproject.toml)", "test: python3 -m pytest (pyproject.toml)"],
    );
    check(&[("setup.cfg", "[tool:pytest]\n")], &["test: python3 -m pytest (setup.cfg)"]);
    check(&[("requirements.txt", "pytest==8\n")], &["test: python3 -m pytest (requirements.txt)"]);
    check(&[("pytest.ini", "[pytest]\n")], &["test: python3 -m pytest (pytest.ini)"]);
}

#[test]
fn a_lock_file_of_uv_runs_the_tools_through_uv() {
    check(
        &[("pyproject.toml", "[tool.ruff]\n[tool.pytest.ini_options]\n"), ("uv.lock", "")],
        &["static: uv run ruff check . (pyproject.toml)", "test: uv run pytest (pyproject.toml)"],
    );
}

#[test]
fn unittest_runs_the_test_files_of_a_project_without_pytest() {
    let pyproject = ("pyproject.toml", "[project]\nname = \"a\"\n");
    check(&[pyproject, ("test_a.py", "")], &["test: python3 -m unittest discover (pyproject.toml)"]);
    check(&[pyproject, ("tests/test_a.py", "")], &["test: python3 -m unittest discover -s tests (pyproject.toml)"]);
    check(
        &[pyproject, ("tests/test_a.py", ""), ("tests/__init__.py", "")],
        &["test: python3 -m unittest discover -s tests -t . (pyproject.toml)"],
    );
    check(&[pyproject], &[]);
}

#[test]
fn go_is_vetted_built_and_tested() {
    check(
        &[("go.mod", "module a\n")],
        &["static: go vet ./... (go.mod)", "build: go build ./... (go.mod)", "test: go test ./... (go.mod)"],
    );
}

#[test]
fn maven_and_gradle_use_their_wrappers() {
    check(&[("pom.xml", "<project/>")], &["test: mvn --batch-mode verify (pom.xml)"]);
    check(&[("pom.xml", "<project/>"), ("mvnw", "")], &["test: ./mvnw --batch-mode verify (pom.xml)"]);
    check(&[("build.gradle", "")], &["test: gradle --no-daemon check (build.gradle)"]);
    check(
        &[("build.gradle.kts", ""), ("settings.gradle.kts", ""), ("gradlew", "")],
        &["test: ./gradlew --no-daemon check (build.gradle.kts)"],
    );
}

#[test]
fn cmake_is_built_and_tested_if_it_has_tests() {
    let build = "build: cmake -S . -B build && cmake --build build (CMakeLists.txt)";
    check(&[("CMakeLists.txt", "project(a C)\n# enable_testing()\n")], &[build]);
    check(
        &[("CMakeLists.txt", "project(a C)\nEnable_Testing ()\n")],
        &[build, "test: ctest --test-dir build --output-on-failure (CMakeLists.txt)"],
    );
}

#[test]
fn only_targets_that_exist_are_made() {
    let makefile = "test := no target\n.PHONY: all test\nall: lint\nlint fmt:\n\ttrue\ntest: all\n\t./run\n";
    check(&[("Makefile", makefile)], &["static: make lint (Makefile)", "test: make test (Makefile)"]);
    check(&[("makefile", "check:\n\ttrue\n")], &["test: make check (makefile)"]);
    check(&[("Makefile", "all:\n\ttrue\n")], &[]);
}

#[test]
fn a_makefile_fills_only_the_gaps_of_other_tools() {
    check(
        &[("go.mod", "module a\n"), ("Makefile", "test:\n\ttrue\nlint:\n\ttrue\n")],
        &["static: go vet ./... (go.mod)", "build: go build ./... (go.mod)", "test: go test ./... (go.mod)"],
    );
    check(
        &[("pom.xml", "<project/>"), ("Makefile", "test:\n\ttrue\nlint:\n\ttrue\n")],
        &["static: make lint (Makefile)", "test: mvn --batch-mode verify (pom.xml)"],
    );
}

#[test]
fn two_languages_are_both_verified() {
    let package = r#"{ "scripts": { "test": "jest" } }"#;
    check(
        &[("go.mod", "module a\n"), ("package.json", package)],
        &[
            "static: go vet ./... (go.mod)",
            "build: go build ./... (go.mod)",
            "test: npm run test (package.json)",
            "test: go test ./... (go.mod)",
        ],
    );
}

#[test]
fn configured_commands_win() {
    let root = project(&[("Cargo.toml", "")]);
    let found = commands(root.path(), &["make all".into(), " ".into()]);
    assert_eq!(lines(&found), ["test: make all (configured)"]);
    assert_eq!(found.commands[0].found_by, CONFIGURED);
    assert_eq!(commands(root.path(), &[]), detect(root.path()));
}

#[test]
fn kinds_are_joined_into_one_line() {
    let detected = detect(project(&[("go.mod", "")]).path());
    assert_eq!(detected.joined(&[Kind::Static, Kind::Build]).unwrap(), "go vet ./... && go build ./...");
    assert_eq!(Detected::default().joined(&[Kind::Test]), None);
    assert!(detected.has_tests() && !Detected::default().has_tests());
}

#[test]
fn files_that_cannot_be_read_are_reported() {
    let root = project(&[("package.json", "{ \"scripts\": "), ("pyproject.toml", "[tool")]);
    std::os::unix::fs::symlink("/dev/zero", root.path().join("Cargo.toml")).unwrap();
    let detected = detect(root.path());
    assert_eq!(lines(&detected), [""; 0]);
    let [link, json, toml] = &detected.problems[..] else { panic!("{:?}", detected.problems) };
    assert!(link.ends_with("Cargo.toml is a symbolic link; links are not followed here"), "{link}");
    assert!(json.starts_with("package.json: EOF"), "{json}");
    assert!(toml.starts_with("pyproject.toml: "), "{toml}");
}

#[test]
fn a_changed_definition_is_detected() {
    let package = |test: &str| format!(r#"{{ "scripts": {{ "test": "{test}" }} }}"#);
    let root = project(&[("package.json", &package("jest")), ("Makefile", "lint:\n\truff check\n\nall:\n\ttrue\n")]);
    let recorded = detect(root.path()).commands;
    assert_eq!(redefined(&recorded, root.path()), []);
    fs::write(root.path().join("Makefile"), "all:\n\tfalse\nlint:\n\truff check\n").unwrap();
    assert_eq!(redefined(&recorded, root.path()), []);
    fs::write(root.path().join("package.json"), package("true")).unwrap();
    fs::write(root.path().join("Makefile"), "all:\n\ttrue\n").unwrap();
    let changed = redefined(&recorded, root.path());
    let words: Vec<_> = changed.iter().map(|(command, now)| (command.command.as_str(), now.clone())).collect();
    let is_now = |now: Option<&str>| Redefinition::Definition(now.map(str::to_owned));
    assert_eq!(words, [("make lint", is_now(None)), ("npm run test", is_now(Some("true")))]);
}

#[test]
fn changed_scripts_of_a_recipe_redefine_the_command() {
    let root = project(&[
        ("Makefile", "test:\n\t@./test.sh && bin/check\n\tpytest test_app.py\n"),
        ("test.sh", "test \"$(sh app.sh)\" = 2\n"),
        ("bin/check", "#!/bin/sh\nexit 1\n"),
        ("app.sh", "echo 1\n"),
        ("test_app.py", "assert 1 == 2\n"),
    ]);
    let before = detect(root.path()).commands;
    fs::write(root.path().join("app.sh"), "echo 2\n").unwrap();
    fs::write(root.path().join("test_app.py"), "assert 2 == 2\n").unwrap();
    assert_eq!(redefined(&before, root.path()), [], "the program under test and test files of other languages");
    fs::write(root.path().join("test.sh"), "true\n").unwrap();
    fs::remove_file(root.path().join("bin/check")).unwrap();
    let changes: Vec<_> = redefined(&before, root.path()).into_iter().map(|(_, change)| change).collect();
    let script = |path: &str, now: Option<String>| Redefinition::Script { path: path.into(), now };
    let now = content_hash(root.path(), "test.sh");
    assert!(now.is_some() && content_hash(root.path(), "bin/check").is_none());
    assert_eq!(changes, [script("bin/check", None), script("test.sh", now)]);
    assert_eq!(redefined(&renewed(&before, root.path()), root.path()), []);
}

#[test]
fn scripts_of_configured_commands_are_recorded() {
    let root = project(&[("check.sh", "false\n")]);
    let before = commands(root.path(), &["sh ./check.sh > log".to_owned()]).commands;
    fs::write(root.path().join("check.sh"), "true\n").unwrap();
    let changes: Vec<_> = redefined(&before, root.path()).into_iter().map(|(_, change)| change).collect();
    assert_eq!(changes, [Redefinition::Script { path: "check.sh".into(), now: content_hash(root.path(), "check.sh") }]);
    let renewed = renewed(&before, root.path());
    assert_eq!((renewed[0].command.as_str(), redefined(&renewed, root.path()).len()), ("sh ./check.sh > log", 0));
}

#[test]
fn test_files_alone_are_a_project() {
    let unittest = "import unittest\n";
    check(&[("test_a.py", unittest)], &["test: python3 -m unittest discover (test_a.py)"]);
    check(
        &[("calc.py", ""), ("tests/test_a.py", unittest)],
        &["test: python3 -m unittest discover -s tests (tests/test_a.py)"],
    );
    check(&[("test_a.py", "def test_add():\n    pass\n")], &["test: python3 -m pytest (test_a.py)"]);
    check(&[("test_a.py", unittest), ("Makefile", "test:\n\tsh x\n")], &["test: make test (Makefile)"]);
    check(
        &[("app/tests/test_a.py", unittest)],
        &["test: (cd app && python3 -m unittest discover -s tests) (app/tests/test_a.py)"],
    );
    check(&[("calc.py", "")], &[]);
}

#[test]
fn unittest_is_the_last_alternative_of_tests_that_use_it() {
    let alternatives = |test: &str, tox: &str| {
        let root = project(&[("tox.ini", tox), ("test_a.py", test)]);
        let found = detect(root.path()).commands.remove(0);
        found.alternatives().cloned().collect::<Vec<_>>()
    };
    let (pytest, unittest) = ("python3 -m pytest", "python3 -m unittest discover");
    assert_eq!(alternatives("import unittest\n", "[testenv]\ncommands = pytest\n"), [pytest, unittest]);
    assert_eq!(alternatives("import pytest\n", "[testenv]\ncommands = pytest\n"), [pytest]);
    assert_eq!(alternatives("import unittest\n", "[tox]\n"), [unittest]);
    let root = project(&[("pytest.ini", ""), ("tests/test_a.py", "import unittest\n")]);
    assert_eq!(detect(root.path()).commands[0].instead.as_deref(), Some("python3 -m unittest discover -s tests"));
}

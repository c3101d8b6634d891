//! Python projects: tox, pytest or unittest, and the static checkers that the project has settings for. A project with a
//! lock file of uv runs them through uv.

use toml::Table;

use crate::{Kind, files::Files, table::Found};

/// The directories that tests are looked for in.
pub(crate) const TEST_FOLDERS: [&str; 3] = ["tests", "test", "."];

/// The most test files of a directory that are read for the modules that they use.
const TESTS_READ_MAX: usize = 100;

/// `tox` runs the environments that its file lists. Without it, the tests run in the present environment.
pub(crate) fn tox(files: &Files<'_>, text: &str) -> Vec<Found> {
    let settings = Settings::read(files);
    let names_pytest = text.contains("pytest").then(|| pytest(files));
    vec![Found::new(Kind::Test, "tox").defined(text).or_else(names_pytest.or_else(|| settings.tests(files, "")))]
}

/// Returns the command for test files that no settings name: unittest if they use it and do not use pytest, else pytest,
/// which also runs plain functions.
pub(crate) fn test_files(files: &Files<'_>, _: &str) -> Vec<Found> {
    let settings = Settings::read(files);
    match uses(files, "unittest") && !uses(files, "pytest") {
        true => settings.tests(files, "").into_iter().collect(),
        false => vec![pytest(files)],
    }
}

/// Returns the command that runs pytest, with unittest as its alternative if the test files use that.
fn pytest(files: &Files<'_>) -> Found {
    let instead = if uses(files, "unittest") { unittest(files, "python3") } else { None };
    Found::new(Kind::Test, "python3 -m pytest").or_else(instead)
}

/// Returns true if a test file names a module.
fn uses(files: &Files<'_>, module: &str) -> bool {
    let tests = TEST_FOLDERS.iter().flat_map(|folder| {
        let names = files.names(folder).into_iter().filter(|name| is_test(name));
        names.map(move |name| format!("{folder}/{name}")).take(TESTS_READ_MAX).collect::<Vec<_>>()
    });
    tests.filter_map(|path| files.text(path.trim_start_matches("./"))).any(|text| text.contains(module))
}

/// Returns the command that runs unittest on the first directory with test files.
fn unittest(files: &Files<'_>, python: &str) -> Option<Found> {
    let folder = TEST_FOLDERS.iter().find(|folder| files.names(folder).iter().any(|name| is_test(name)))?;
    // A package is imported from the root of the project; other test directories are their own root.
    let arguments = match *folder {
        "." => String::new(),
        folder if files.has(&format!("{folder}/__init__.py")) => format!(" -s {folder} -t ."),
        folder => format!(" -s {folder}"),
    };
    Some(Found::new(Kind::Test, format!("{python} -m unittest discover{arguments}")))
}

/// Returns the static checks of a project, and its tests unless tox runs them. Several files lead here; equal commands
/// count once.
pub(crate) fn project(files: &Files<'_>, _: &str) -> Vec<Found> {
    let settings = Settings::read(files);
    let runner = if files.has("uv.lock") { "uv run " } else { "" };
    let mut found = Vec::new();
    if settings.has_tool("ruff") || files.has("ruff.toml") || files.has(".ruff.toml") {
        found.push(Found::new(Kind::Static, format!("{runner}ruff check .")));
    }
    if settings.has_tool("mypy") || files.has("mypy.ini") {
        found.push(Found::new(Kind::Static, format!("{runner}mypy .")));
    }
    if !files.has("tox.ini") {
        found.extend(settings.tests(files, runner));
    }
    found
}

/// The settings of a project that name its tools.
struct Settings {
    pyproject: Table,
    /// The texts of the other files that can name pytest.
    texts: Vec<String>,
}

impl Settings {
    fn read(files: &Files<'_>) -> Self {
        let pyproject = files.text("pyproject.toml").map(|text| text.parse::<Table>());
        let pyproject = match pyproject {
            Some(Ok(table)) => table,
            Some(Err(error)) => {
                files.misread("pyproject.toml", error.message());
                Table::new()
            }
            None => Table::new(),
        };
        let others = ["setup.cfg", "setup.py", "requirements.txt", "requirements-dev.txt"];
        Settings { pyproject, texts: others.iter().filter_map(|name| files.text(name)).collect() }
    }

    fn has_tool(&self, name: &str) -> bool {
        self.pyproject.get("tool").and_then(|tools| tools.get(name)).is_some()
    }

    /// Returns the command that runs the tests: pytest if the project names it, else unittest if there are test files.
    fn tests(&self, files: &Files<'_>, runner: &str) -> Option<Found> {
        match (self.names_pytest(files), runner) {
            (true, "") => Some(pytest(files)),
            (true, runner) => Some(Found::new(Kind::Test, format!("{runner}pytest"))),
            (false, "") => unittest(files, "python3"),
            (false, runner) => unittest(files, &format!("{runner}python")),
        }
    }

    fn names_pytest(&self, files: &Files<'_>) -> bool {
        // The parsed table has no comments.
        let in_project = serde_json::to_string(&self.pyproject).is_ok_and(|text| text.contains("pytest"));
        in_project
            || files.has("pytest.ini")
            || files.has("conftest.py")
            || files.has("tests/conftest.py")
            || self.texts.iter().any(|text| text.contains("pytest"))
    }
}

fn is_test(name: &str) -> bool {
    name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"))
}

//! The table of build tools: a file in the root of a project, and the commands that it stands for.

use std::collections::BTreeMap;

use crate::{Command, Kind, files::Files, javascript, make, python};

/// One row of the table.
pub(crate) struct Row {
    /// The file that the row is found by; `*` stands for a part of any name.
    pub(crate) file: &'static str,
    /// Returns the commands, from the text of that file.
    pub(crate) find: fn(&Files<'_>, &str) -> Vec<Found>,
    /// True if only those kinds of commands are taken that no earlier row has.
    pub(crate) fills_gaps_only: bool,
}

/// All rows, in the order in which they are applied. Commands of several languages in one root are all used. Makefiles
/// only fill gaps, because their targets usually call the tools above; test files that no settings name come last.
pub(crate) const TABLE: &[Row] = &[
    Row { file: "pubspec.yaml", find: dart, fills_gaps_only: false },
    Row { file: "Cargo.toml", find: cargo, fills_gaps_only: false },
    Row { file: "package.json", find: javascript::scripts, fills_gaps_only: false },
    Row { file: "tox.ini", find: python::tox, fills_gaps_only: false },
    Row { file: "pytest.ini", find: python::project, fills_gaps_only: false },
    Row { file: "pyproject.toml", find: python::project, fills_gaps_only: false },
    Row { file: "setup.cfg", find: python::project, fills_gaps_only: false },
    Row { file: "setup.py", find: python::project, fills_gaps_only: false },
    Row { file: "requirements.txt", find: python::project, fills_gaps_only: false },
    Row { file: "go.mod", find: go, fills_gaps_only: false },
    Row { file: "pom.xml", find: maven, fills_gaps_only: false },
    Row { file: "build.gradle", find: gradle, fills_gaps_only: false },
    Row { file: "build.gradle.kts", find: gradle, fills_gaps_only: false },
    Row { file: "settings.gradle", find: gradle, fills_gaps_only: false },
    Row { file: "settings.gradle.kts", find: gradle, fills_gaps_only: false },
    Row { file: "CMakeLists.txt", find: cmake, fills_gaps_only: false },
    Row { file: "*.sln", find: dotnet, fills_gaps_only: false },
    Row { file: "*.csproj", find: dotnet, fills_gaps_only: false },
    Row { file: "mix.exs", find: |_, _| test("mix test"), fills_gaps_only: false },
    Row { file: "phpunit.xml", find: |_, _| test("vendor/bin/phpunit"), fills_gaps_only: false },
    Row { file: "phpunit.xml.dist", find: |_, _| test("vendor/bin/phpunit"), fills_gaps_only: false },
    Row { file: "Rakefile", find: rake, fills_gaps_only: false },
    Row { file: "bunfig.toml", find: |_, _| test("bun test"), fills_gaps_only: true },
    Row { file: "bun.lock", find: |_, _| test("bun test"), fills_gaps_only: true },
    Row { file: "deno.json", find: deno, fills_gaps_only: true },
    Row { file: "deno.jsonc", find: deno, fills_gaps_only: true },
    Row { file: "justfile", find: just, fills_gaps_only: true },
    Row { file: "Justfile", find: just, fills_gaps_only: true },
    Row { file: ".justfile", find: just, fills_gaps_only: true },
    Row { file: "GNUmakefile", find: make::targets, fills_gaps_only: true },
    Row { file: "makefile", find: make::targets, fills_gaps_only: true },
    Row { file: "Makefile", find: make::targets, fills_gaps_only: true },
    Row { file: "test_*.py", find: python::test_files, fills_gaps_only: true },
    Row { file: "tests/test_*.py", find: python::test_files, fills_gaps_only: true },
    Row { file: "test/test_*.py", find: python::test_files, fills_gaps_only: true },
];

/// A command of a row.
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) command: String,
    pub(crate) definition: Option<String>,
    pub(crate) instead: Option<String>,
    pub(crate) otherwise: Option<String>,
}

impl Found {
    pub(crate) fn new(kind: Kind, command: impl Into<String>) -> Self {
        Found { kind, command: command.into(), definition: None, instead: None, otherwise: None }
    }

    pub(crate) fn defined(self, definition: impl Into<String>) -> Self {
        Found { definition: Some(definition.into()), ..self }
    }

    /// Names the command to use if the program of this one is not installed. Its own alternative comes after it.
    pub(crate) fn or_else(self, instead: Option<Found>) -> Self {
        let (instead, otherwise) = instead.map(|instead| (instead.command, instead.instead)).unzip();
        Found { instead, otherwise: otherwise.flatten(), ..self }
    }

    pub(crate) fn into_command(self, file: &str) -> Command {
        Command {
            kind: self.kind,
            command: self.command,
            found_by: file.to_owned(),
            definition: self.definition,
            instead: self.instead,
            otherwise: self.otherwise,
            scripts: BTreeMap::new(),
        }
    }
}

/// Flutter, or Dart alone if the package does not depend on the Flutter SDK. Both fail if there is no test directory.
fn dart(files: &Files<'_>, pubspec: &str) -> Vec<Found> {
    let is_flutter = pubspec.lines().any(|line| line.trim() == "sdk: flutter");
    let tool = if is_flutter { "flutter" } else { "dart" };
    let mut found = vec![Found::new(Kind::Static, format!("{tool} analyze"))];
    if files.has_folder("test") {
        found.push(Found::new(Kind::Test, format!("{tool} test")));
    }
    found
}

fn cargo(_: &Files<'_>, _: &str) -> Vec<Found> {
    vec![
        Found::new(Kind::Static, "cargo check --workspace --all-targets"),
        Found::new(Kind::Test, "cargo test --workspace"),
    ]
}

fn go(_: &Files<'_>, _: &str) -> Vec<Found> {
    vec![
        Found::new(Kind::Static, "go vet ./..."),
        Found::new(Kind::Build, "go build ./..."),
        Found::new(Kind::Test, "go test ./..."),
    ]
}

/// `verify` compiles, tests and checks.
fn maven(files: &Files<'_>, _: &str) -> Vec<Found> {
    let tool = if files.has("mvnw") { "./mvnw" } else { "mvn" };
    vec![Found::new(Kind::Test, format!("{tool} --batch-mode verify"))]
}

/// `check` compiles, tests and checks. A daemon would outlive the command.
fn gradle(files: &Files<'_>, _: &str) -> Vec<Found> {
    let tool = if files.has("gradlew") { "./gradlew" } else { "gradle" };
    vec![Found::new(Kind::Test, format!("{tool} --no-daemon check"))]
}

fn test(command: &str) -> Vec<Found> {
    vec![Found::new(Kind::Test, command)]
}

fn dotnet(_: &Files<'_>, _: &str) -> Vec<Found> {
    test("dotnet test")
}

/// The tasks that the libraries of Ruby's test frameworks make.
fn rake(_: &Files<'_>, text: &str) -> Vec<Found> {
    let kinds = [("TestTask", "rake test"), ("RakeTask", "rake spec")];
    let made = kinds.into_iter().filter(|(class, _)| text.contains(class));
    made.map(|(_, command)| Found::new(Kind::Test, command).defined(text)).collect()
}

/// Comments may be in the file, so the task `test` is looked for as text.
fn deno(_: &Files<'_>, text: &str) -> Vec<Found> {
    let tasks = text.split_once("\"tasks\"").and_then(|(_, tasks)| tasks.split('}').next()).unwrap_or_default();
    let command = if tasks.contains("\"test\"") { "deno task test" } else { "deno test" };
    vec![Found::new(Kind::Static, "deno lint"), Found::new(Kind::Test, command).defined(text)]
}

/// Recipes of a justfile begin with their name, perhaps with parameters, and a colon.
fn just(_: &Files<'_>, text: &str) -> Vec<Found> {
    let kinds = [("lint", Kind::Static), ("build", Kind::Build), ("test", Kind::Test)];
    let has = |name: &str| {
        text.lines().any(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with([':', ' ']) && rest.contains(':') && !rest.contains(":="))
        })
    };
    kinds
        .into_iter()
        .filter(|(name, _)| has(name))
        .map(|(name, kind)| Found::new(kind, format!("just {name}")).defined(text))
        .collect()
}

fn cmake(_: &Files<'_>, lists: &str) -> Vec<Found> {
    let mut found = vec![Found::new(Kind::Build, "cmake -S . -B build && cmake --build build")];
    let code = lists.lines().map(|line| line.split('#').next().unwrap_or_default().to_ascii_lowercase());
    let has_tests = code
        .map(|line| line.replace(' ', ""))
        .any(|line| line.contains("enable_testing(") || line.contains("include(ctest)"));
    if has_tests {
        found.push(Found::new(Kind::Test, "ctest --test-dir build --output-on-failure"));
    }
    found
}

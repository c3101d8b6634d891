//! The part that a file plays in a check, by its name.
//!
//! A file that defines a check decides which cases run and how their results count. A test says what is right. A source is
//! what is checked. The table names the files that build tools, runners and package managers read by themselves; a file
//! that no row names counts as data of the product.

/// The part that a file plays in a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It defines what the check does: a makefile, settings of a runner, a hook, a module that stands before a runner.
    Definition,
    /// It is a test, or data of tests.
    Test,
    /// It is source text.
    Source,
    /// It is text for people.
    Document,
    /// Anything else.
    Data,
}

/// Names, beginnings and endings of definitions that also build the product.
#[rustfmt::skip]
const BUILD_FILES: &[&str] = &[
    "makefile", "gnumakefile", "justfile", ".justfile", "taskfile.yml", "taskfile.yaml", "rakefile", "sconstruct", "sconscript", "meson.build",
    "meson_options.txt", "meson.options", "cmakelists.txt", "cmakepresets.json", "configure", "configure.ac", "build.ninja", "build", "build.bazel",
    "workspace", "module.bazel", "wscript", "premake5.lua", "xmake.lua", "build.zig", "dune", "dune-project",
    "setup.py", "setup.cfg", "pyproject.toml", "pipfile", "package.json", "pnpm-workspace.yaml", "deno.json", "deno.jsonc", "lerna.json", "nx.json", "turbo.json",
    "cargo.toml", "build.rs", "go.mod", "go.work", "pom.xml", "build.sbt", "build.xml", "gemfile", "composer.json", "mix.exs", "rebar.config",
    "pubspec.yaml", "build.yaml", "package.swift", "stack.yaml", "dockerfile", "containerfile",
];
#[rustfmt::skip]
const BUILD_BEGINNINGS: &[&str] = &["requirements", "tsconfig", "jsconfig", "build.gradle", "settings.gradle", "directory.build", "gruntfile", "gulpfile", "makefile."];
#[rustfmt::skip]
const BUILD_ENDINGS: &[&str] =
    &[".mk", ".mak", ".make", ".cmake", ".csproj", ".fsproj", ".vbproj", ".sln", ".props", ".targets", ".gemspec", ".podspec", ".gradle", ".gradle.kts", ".bzl", ".cabal", ".nix"];

/// Returns true if this definition also builds the product.
pub(crate) fn builds_product(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    BUILD_FILES.contains(&name.as_str())
        || BUILD_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || BUILD_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Complete names of definitions.
#[rustfmt::skip]
const DEFINITIONS: &[&str] = &[
    "makefile", "gnumakefile", "justfile", ".justfile", "taskfile.yml", "taskfile.yaml", "rakefile", "sconstruct", "sconscript", "meson.build",
    "meson_options.txt", "meson.options", "cmakelists.txt", "cmakepresets.json", "configure", "configure.ac", "build.ninja", "build", "build.bazel",
    "workspace", "module.bazel", "wscript", "premake5.lua", "xmake.lua", "build.zig", "dune", "dune-project",
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "setup.py", "pyproject.toml", "conftest.py", "noxfile.py",
    "sitecustomize.py", "usercustomize.py", ".coveragerc", "pipfile", "pipfile.lock", "poetry.lock", "uv.lock", "uv.toml", "pdm.lock", "pdm.toml", "hatch.toml",
    "nose.cfg", ".noserc", "unittest.cfg", "nose2.cfg", "trial.cfg", "stestr.conf", ".stestr.conf", "ward.toml",
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc", ".pnpmfile.cjs", "deno.json", "deno.jsonc",
    "deno.lock", "bunfig.toml", "bun.lock", "bun.lockb", ".swcrc", "lerna.json", "nx.json", "turbo.json", "karma.conf.js", ".taprc", ".tap", ".mocharc",
    "cargo.toml", "cargo.lock", "build.rs", "clippy.toml", ".clippy.toml", "rustfmt.toml", "nextest.toml", "rust-toolchain", "rust-toolchain.toml",
    "go.mod", "go.sum", "go.work", "go.work.sum", "go.env",
    "pom.xml", "gradlew", "mvnw", "gradle.properties", "build.sbt", "build.xml", "testng.xml",
    "gemfile", "gemfile.lock", ".rspec", "composer.json", "composer.lock", "phpunit.xml", "phpunit.xml.dist", "mix.exs", "mix.lock", "rebar.config",
    "pubspec.yaml", "pubspec.lock", "dart_test.yaml", "analysis_options.yaml", "build.yaml", "nuget.config", "global.json", "package.swift", "stack.yaml",
    ".envrc", ".tool-versions", "mise.toml", ".mise.toml", ".gitattributes", ".gitmodules", ".pre-commit-config.yaml", "jenkinsfile", ".gitlab-ci.yml",
    ".travis.yml", "azure-pipelines.yml", "appveyor.yml", "dockerfile", "containerfile", "vagrantfile", "ctesttestfile.cmake", "ctestconfig.cmake",
];

/// Beginnings of names of definitions.
#[rustfmt::skip]
const BEGINNINGS: &[&str] = &[
    "requirements", ".env", ".babelrc", ".mocharc", ".nycrc", ".c8rc", ".yarnrc", ".eslintrc", ".prettierrc", "tsconfig", "jsconfig", "rust-toolchain",
    "build.gradle", "settings.gradle", "directory.build", "docker-compose", "compose.", "gruntfile", "gulpfile", "jakefile", "makefile.", "makevars",
    ".bazelrc", "jest.", "vitest.", "karma.conf", "phpunit", ".pylintrc", ".flake8", "mypy.ini", "ruff.toml", ".ruff.toml",
];

/// Endings of names of definitions.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    ".mk", ".mak", ".make", ".cmake", ".pth", ".egg-link", ".csproj", ".fsproj", ".vbproj", ".sln", ".props", ".targets", ".runsettings", ".gemspec", ".podspec",
    ".config.js", ".config.cjs", ".config.mjs", ".config.ts", ".config.cts", ".config.mts", ".config.json", ".gradle", ".gradle.kts", ".bzl", ".cabal", ".nix",
];

/// Directories whose files are all definitions.
#[rustfmt::skip]
const DEFINING_FOLDERS: &[&str] = &[
    ".cargo", ".github", ".gitlab", ".circleci", ".husky", ".mvn", "gradle", ".yarn", "node_modules", "vendor", ".config", ".interlock", ".vscode", ".devcontainer", ".githooks",
];

/// Directories of tests and their data.
#[rustfmt::skip]
const TEST_FOLDERS: &[&str] = &[
    "test", "tests", "testing", "spec", "specs", "__tests__", "__mocks__", "__snapshots__", "testdata", "test_data", "test-data", "fixtures", "golden", "goldens", "snapshots",
    "expected", "e2e", "integration_test", "androidtest", "t",
];

/// The extensions of source texts.
#[rustfmt::skip]
const SOURCES: &[&str] = &[
    "py", "pyx", "rs", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "go", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "ino", "m", "mm", "java", "kt", "kts",
    "scala", "groovy", "swift", "rb", "php", "pl", "pm", "lua", "dart", "cs", "fs", "vb", "ex", "exs", "erl", "clj", "zig", "nim", "hs", "ml", "mli", "r", "jl", "sh", "bash", "zsh", "ksh", "fish",
    "awk", "sed", "tcl", "s", "asm", "sql", "d", "v", "sv", "vhd",
];

/// Languages whose sources name one another: no compiler takes in a whole directory.
const LOADED_BY_NAME: &[&str] = &[
    "py", "js", "mjs", "cjs", "ts", "mts", "cts", "rb", "php", "pl", "pm", "lua", "sh", "bash", "zsh", "r", "jl", "tcl",
];

/// Returns true if a source takes part only because another file names it, or because a tool knows its name.
pub(crate) fn is_loaded_by_name(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| LOADED_BY_NAME.contains(&extension))
}

/// Returns true if a source is a header of C or C++, which is included by its name.
pub(crate) fn is_header(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| ["h", "hh", "hpp", "hxx"].contains(&extension))
}

/// The extensions and names of texts for people.
const DOCUMENTS: &[&str] =
    &["md", "rst", "adoc", "png", "jpg", "jpeg", "gif", "svg", "webp", "pdf", "css", "scss", "html"];
const DOCUMENT_NAMES: &[&str] = &[
    "license",
    "copying",
    "readme",
    "authors",
    "changelog",
    "notice",
    "contributing",
    ".gitignore",
    ".editorconfig",
    "codeowners",
];

/// Returns true if a file is a test or data of tests, by its name.
pub fn is_test(path: &str) -> bool {
    part(path, b"") == Part::Test
}

/// Returns the part of a file. `head` is the beginning of its content.
pub(crate) fn part(path: &str, head: &[u8]) -> Part {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let is_metadata = |folder: &str| folder.ends_with(".egg-info") || folder.ends_with(".dist-info");
    let in_folder = |table: &[&str]| folders.split('/').any(|folder| table.contains(&folder));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if is_definition(name) || folders.split('/').any(is_metadata) || in_folder(DEFINING_FOLDERS) {
        return Part::Definition;
    }
    if in_folder(TEST_FOLDERS) || is_test_name(path.rsplit('/').next().unwrap_or(path), stem, extension) {
        return Part::Test;
    }
    if SOURCES.contains(&extension) || (extension.is_empty() && head.starts_with(b"#!")) {
        return Part::Source;
    }
    if DOCUMENTS.contains(&extension)
        || in_folder(&["doc", "docs"])
        || DOCUMENT_NAMES.contains(&stem)
        || DOCUMENT_NAMES.contains(&name)
    {
        return Part::Document;
    }
    Part::Data
}

fn is_definition(name: &str) -> bool {
    DEFINITIONS.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn is_test_name(name: &str, stem: &str, extension: &str) -> bool {
    let words = ["test", "tests", "spec"];
    let is_word = |word: &str| words.contains(&word);
    let by_ending = matches!(extension, "snap" | "golden" | "bats" | "feature" | "t" | "approved");
    let camel = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    // `FooTest.java`, `TestFoo.kt`: a capital letter begins the word.
    let by_capital = (camel.ends_with("Test")
        || camel.ends_with("Tests")
        || camel.ends_with("Spec")
        || camel.ends_with("IT")
        || camel.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase)))
        && matches!(
            extension,
            "java" | "kt" | "cs" | "scala" | "groovy" | "swift" | "php" | "ts" | "js" | "cpp" | "cc" | "m"
        );
    by_ending || by_capital || stem.split(['_', '-', '.']).any(is_word)
}

/// Returns true if a text has a word that is not a part of a longer one.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        let begins = !word.starts_with(is_letter) || !text[..at].ends_with(is_letter);
        begins && (!word.ends_with(is_letter) || !text[at + word.len()..].starts_with(is_letter))
    })
}

/// Returns true if a program wrote the file, so that its text is nobody's work.
pub(crate) fn is_generated(path: &str, head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&head[..head.len().min(1_024)]).to_lowercase();
    let by_name = [".pb.go", "_pb2.py", ".min.js", ".g.dart", ".generated."].iter().any(|part| path.contains(part));
    by_name || head.contains("@generated") || head.contains("code generated by") || head.contains("do not edit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_their_parts() {
        use Part::{Data, Definition, Document, Source, Test};
        let cases = [
            ("Makefile", Definition),
            ("rules/common.mk", Definition),
            ("conftest.py", Definition),
            ("tests/conftest.py", Definition),
            ("json.py", Source),
            (".cargo/config.toml", Definition),
            ("jest.config.mjs", Definition),
            (".npmrc", Definition),
            ("build.rs", Definition),
            ("tests/test_a.py", Test),
            ("a_test.go", Test),
            ("src/a.test.ts", Test),
            ("src/FooTest.java", Test),
            ("test.js", Test),
            ("tests/data/out.txt", Test),
            ("src/__snapshots__/a.snap", Test),
            ("latest.py", Source),
            ("contest/main.py", Source),
            ("src/lib.rs", Source),
            ("count.sh", Source),
            ("docs/a.md", Document),
            ("README", Document),
            ("data/table.csv", Data),
        ];
        for (path, expected) in cases {
            assert_eq!(part(path, b""), expected, "{path}");
        }
        assert_eq!(part("tool", b"#!/bin/sh\n"), Source);
    }
}

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

/// Python modules that a test run imports: a module of the project with such a name stands before the real one.
#[rustfmt::skip]
const RUNNERS: &[&str] = &[
    "pytest", "_pytest", "pluggy", "iniconfig", "py", "unittest", "unittest2", "nose", "nose2", "tox", "nox", "coverage", "hypothesis", "doctest", "mock", "behave", "robot",
    "twisted", "trial", "ward", "stestr", "testtools", "pytest_cov", "xdist", "runpy", "site", "importlib", "pkgutil", "traceback", "inspect", "argparse", "warnings",
    "contextlib", "functools", "subprocess", "tempfile", "logging", "threading", "signal", "atexit", "builtins", "io", "os", "sys", "re", "json", "time", "types", "enum", "dataclasses",
    "collections", "pathlib", "platform", "locale", "codecs", "encodings", "abc", "ast", "tokenize", "textwrap", "difflib", "fnmatch", "glob", "shutil", "random", "copy", "operator",
];

/// Headers of the system and of test frameworks: a file of the project with such a name can stand before the real one.
#[rustfmt::skip]
const HEADERS: &[&str] = &[
    "assert", "cassert", "stdio", "cstdio", "stdlib", "cstdlib", "string", "signal", "setjmp", "unistd", "stddef", "stdint", "stdbool", "unity", "check", "cmocka", "catch", "doctest",
    "gtest", "gmock", "cunit", "greatest", "munit", "criterion", "utest", "minunit",
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
    if is_definition(name) || folders.split('/').any(is_metadata) || in_folder(DEFINING_FOLDERS) || stands_before(path)
    {
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

/// Returns true if a file stands before a header or a module of the system or of a test framework.
pub(crate) fn stands_before(path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    (matches!(extension, "h" | "hpp" | "") && HEADERS.contains(&stem)) || stands_before_a_runner(&lower)
}

/// Returns true if Python finds this file under the name of a module that a test run imports.
fn stands_before_a_runner(path: &str) -> bool {
    let Some(module) = path.strip_suffix(".py").or_else(|| path.strip_suffix(".so")) else { return false };
    let module = module.strip_prefix("src/").unwrap_or(module);
    let first = module.split('/').next().unwrap_or(module);
    RUNNERS.contains(&first)
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

/// Words with which a source looks at the runner of its tests, or changes it.
#[rustfmt::skip]
const OF_RUNNERS: &[(&[&str], &[&str])] = &[
    (&["py"], &["unittest", "pytest", "_pytest", "PYTEST_CURRENT_TEST", "pluggy", "doctest", "_exit"]),
    (&["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts"], &["node:test", "mocha", "jest", "vitest", "tape", "JEST_WORKER_ID", "NODE_TEST_CONTEXT", "VITEST", "npm_lifecycle_event"]),
    (&["go"], &["\"testing\"", "test.v", "testlog"]),
    (&["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx"], &["define assert", "undef assert", "NDEBUG", "SIGABRT", "SIGSEGV", "constructor", "destructor", "_Exit", "_exit", "quick_exit", "atexit", "TEST_ASSERT"]),
    (&["sh", "bash", "zsh", "ksh", ""], &["trap", "assert", "alias", "unalias", "BASH_ENV"]),
    (&["rs"], &["cfg!(test)", "cfg(not(test))", "RUST_TEST", "NEXTEST", "link_section", "ctor", "macro_rules! assert", "macro_rules! assert_eq", "macro_rules! assert_ne", "macro_rules! panic"]),
];

/// Words with which a source looks at the place or the time of its run. A check shows only how it behaves in its own.
#[rustfmt::skip]
const OF_SURROUNDINGS: &[(&[&str], &[&str])] = &[
    (&["py"], &[
        "environ", "getenv", "exists", "isfile", "isdir", "is_file", "is_dir", "os.access", "os.stat", "listdir", "scandir", "iterdir", "getcwd", "Path.cwd", "gethostname", "uname", "getuser",
        "getlogin", "getpid", "getppid", "getuid", "gettempdir", "expanduser", "Path.home", "__file__", "__debug__", "datetime.now", "utcnow", "date.today", "datetime.today", "time.time",
        "localtime", "gmtime", "strftime", "monotonic", "perf_counter", "sys.modules", "_getframe", "currentframe", "inspect.stack", "extract_stack", "settrace", "gc.get_objects", "getrefcount",
        "isatty", "orig_argv", "sys.flags", "sys.path", "sys.gettrace", "is_relative_to", "platform.node", "subprocess", "os.system", "popen", "ctypes", "urlopen", "socket", "eval", "exec", "__import__", "importlib", "getattr", "globals", "__builtins__", "builtins", "__dict__",
        "meta_path", "path_hooks", "get_referrers", "traceback", "argv[0]", "pkgutil", "runpy", "signal",
    ]),
    (&["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts"], &[
        "process.env", "existsSync", "statSync", "accessSync", "readdirSync", "process.cwd", "__dirname", "__filename", "import.meta", "os.hostname", "hostname", "os.tmpdir", "tmpdir", "homedir",
        "userInfo", "process.pid", "process.ppid", "process.argv", "execArgv", "Date.now", "new Date()", "performance.now", "hrtime", "uptime", "isTTY", "require.main", "require.cache", "child_process",
        ".stack", "captureStackTrace", "module.parent", "globalThis", "eval", "Function(", "process[", "getBuiltinModule", "Date()",
    ]),
    (&["go"], &[
        "os.Getenv", "os.LookupEnv", "os.Environ", "os.Stat", "os.Lstat", "os.ReadDir", "os.Getwd", "os.Hostname", "os.TempDir", "os.UserHomeDir", "os.Getpid", "os.Getppid", "os.Getuid", "os.Args",
        "os.Executable", "time.Now", "time.Since", "runtime.Caller", "runtime.Callers", "runtime.Stack", "debug.Stack", "debug.ReadBuildInfo", "flag.Lookup", "exec.Command", "reflect", "syscall", "unsafe", "plugin", "linkname",
    ]),
    (&["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx"], &[
        "getenv", "environ", "access", "stat", "lstat", "opendir", "getcwd", "gethostname", "uname", "getpid", "getppid", "getuid", "time", "gettimeofday", "clock_gettime", "localtime", "gmtime",
        "isatty", "__DATE__", "__TIME__", "__TIMESTAMP__", "__FILE__", "__BASE_FILE__", "__has_include", "program_invocation_name", "program_invocation_short_name", "__progname", "backtrace", "dladdr", "dlsym", "popen", "syscall", "asm", "__asm__", "__OPTIMIZE__", "__COUNTER__",
    ]),
    (&["sh", "bash", "zsh", "ksh", ""], &[
        "-e /", "-f /", "-d /", "-r /", "-e .", "-d .", "-f .", "date", "hostname", "uname", "whoami", "pwd", "PWD", "HOME", "TMPDIR", "CI", "PPID", "tty", "-t 1", "-t 0", "/proc", "EPOCHSECONDS",
        "SECONDS", "BASH_SOURCE", "FUNCNAME", "HOSTNAME", "env", "printenv", "ps", "eval", "$0", "${0", "git", "set -o",
    ]),
    (&["rs"], &[
        "env::var", "env::var_os", "env::vars", "env::args", "env!", "option_env!", "exists", "try_exists", "is_file", "is_dir", "metadata", "read_dir", "current_dir", "current_exe", "temp_dir",
        "home_dir", "SystemTime::now", "Instant::now", "process::id", "file!", "Backtrace", "is_terminal", "debug_assertions", "include_str!", "Command::new",
    ]),
    (&["rb"], &["ENV", "File.exist", "Dir.pwd", "Time.now", "Date.today", "hostname", "tmpdir", "caller", "$PROGRAM_NAME", "$0", "__FILE__", "__dir__"]),
    (&["java", "kt"], &["System.getenv", "System.getProperty", "Files.exists", "currentTimeMillis", "nanoTime", "LocalDate.now", "LocalDateTime.now", "Instant.now", "getStackTrace", "StackWalker"]),
    (&["php", "pl", "pm", "lua"], &["getenv", "file_exists", "getcwd", "gethostname", "time", "date", "php_sapi_name", "%ENV", "$ENV", "caller", "os.time", "os.date", "io.open", "debug.getinfo", "arg"]),
];

/// Paths that a source of any language can look for, to find out where it runs.
#[rustfmt::skip]
const PLACES: &[&str] = &[
    "/proc/", "/sys/", "/tmp", "/home/", "/root", "/etc/", "/.dockerenv", ".git/", ".git\"", ".git'", "rev-parse", "tests/", "test/", "testdata", "__tests__", "spec/",
];

/// Returns the words of runners that a source has and did not have before.
pub(crate) fn new_words_of_runners(path: &str, before: &str, after: &str) -> Vec<&'static str> {
    new_words(OF_RUNNERS, path, before, after)
}

/// Returns the words of its surroundings by which a source chooses, and by which it did not choose before. A plain use,
/// such as printing the date, is no choice. Choices by branches are found by breaking the branches.
pub(crate) fn new_words_of_surroundings(path: &str, before: &str, after: &str) -> Vec<&'static str> {
    let (before, after) = (choices(before), choices(after));
    let mut words = new_words(OF_SURROUNDINGS, path, &before, &after);
    words.extend(PLACES.iter().filter(|place| after.contains(**place) && !before.contains(**place)));
    words
}

/// Parts of a line that choose between values.
const CHOOSING: &[&str] = &[
    "if ",
    "if(",
    "elif",
    "while",
    "case ",
    "match ",
    "switch",
    "unless",
    "assert",
    "?",
    "&&",
    "||",
    " and ",
    " or ",
    "not ",
    "!",
    "==",
    "<",
    ">",
    " in ",
    "[",
    "bool(",
    "int(",
    "* ",
    "test ",
    "all(",
    "any(",
    "getattr",
    "eval",
    "exec",
    "Function(",
    "then",
];

/// Returns the lines of a source that choose between values.
fn choices(text: &str) -> String {
    let lines = text.lines().filter(|line| CHOOSING.iter().any(|part| line.contains(part)));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn new_words(table: &[(&[&str], &[&'static str])], path: &str, before: &str, after: &str) -> Vec<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let words = table.iter().filter(|(extensions, _)| extensions.contains(&extension)).flat_map(|(_, words)| *words);
    words.filter(|word| has_word(after, word) && !has_word(before, word)).copied().collect()
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
            ("pytest.py", Definition),
            ("pytest/__init__.py", Definition),
            ("src/unittest/case.py", Definition),
            ("app/json.py", Source),
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

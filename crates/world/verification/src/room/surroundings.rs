//! What a changed source can look at to find out where it runs, and whether it chooses by that.
//!
//! A check shows only how a source behaves in the room. The words say how a language names its surroundings; a word counts
//! if a statement that chooses between values has it, or a name that got its value from a statement with it, over any number
//! of names, returned values and files of the change. A plain use, such as printing the date, is no choice.

use std::{collections::BTreeSet, sync::LazyLock};

use interlock_codemap::{ItemKind, code, functions, items};
use regex::Regex;

use super::{
    breaking::{is_shell, shell_functions},
    kinds::has_word,
    lines::without_comment,
    tree::Changed,
};

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
        "environb", "getenvb", "pycache_prefix", "dont_write_bytecode", "stack()", "tb_frame", "f_back", "setprofile", "sys.monitoring", "faulthandler", "linecache", "getsource", "getsourcelines", "co_filename", "co_code", "__code__",
    ]),
    (&["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts"], &[
        "process.env", "existsSync", "statSync", "accessSync", "readdirSync", "process.cwd", "__dirname", "__filename", "import.meta", "os.hostname", "hostname", "os.tmpdir", "tmpdir", "homedir",
        "userInfo", "process.pid", "process.ppid", "process.argv", "execArgv", "Date.now", "new Date()", "performance.now", "hrtime", "uptime", "isTTY", "require.main", "require.cache", "child_process",
        ".stack", "captureStackTrace", "module.parent", "globalThis", "eval", "Function(", "process[", "getBuiltinModule", "Date()", "= process", "'process'", "'node:process'", "\"process\"", "\"node:process\"", ".caller", "arguments.callee", "prepareStackTrace",
    ]),
    (&["go"], &[
        "os.Getenv", "os.LookupEnv", "os.Environ", "os.Stat", "os.Lstat", "os.ReadDir", "os.Getwd", "os.Hostname", "os.TempDir", "os.UserHomeDir", "os.Getpid", "os.Getppid", "os.Getuid", "os.Args",
        "os.Executable", "time.Now", "time.Since", "runtime.Caller", "runtime.Callers", "runtime.Stack", "debug.Stack", "debug.ReadBuildInfo", "flag.Lookup", "exec.Command", "reflect", "syscall", "unsafe", "plugin", "linkname",
    ]),
    (&["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx"], &[
        "getenv", "environ", "envp", "access", "stat", "lstat", "opendir", "getcwd", "gethostname", "uname", "getpid", "getppid", "getuid", "time", "gettimeofday", "clock_gettime", "localtime", "gmtime",
        "isatty", "__DATE__", "__TIME__", "__TIMESTAMP__", "__FILE__", "__BASE_FILE__", "__has_include", "program_invocation_name", "program_invocation_short_name", "__progname", "backtrace", "dladdr", "dlsym", "popen", "syscall", "asm", "__asm__", "__OPTIMIZE__", "__COUNTER__",
    ]),
    (&["sh", "bash", "zsh", "ksh", ""], &[
        "-e /", "-f /", "-d /", "-r /", "-e .", "-d .", "-f .", "date", "hostname", "uname", "whoami", "pwd", "PWD", "HOME", "TMPDIR", "CI", "PPID", "tty", "-t 1", "-t 0", "/proc", "EPOCHSECONDS",
        "SECONDS", "BASH_SOURCE", "FUNCNAME", "HOSTNAME", "env", "printenv", "ps", "eval", "$0", "${0", "git", "set -o",
    ]),
    (&["rs"], &[
        "std::env", "env::var", "env::var_os", "env::vars", "env::args", "env!", "option_env!", "exists", "try_exists", "is_file", "is_dir", "metadata", "read_dir", "current_dir", "current_exe", "temp_dir",
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

/// Returns the words of runners that a source has and did not have before.
pub(super) fn new_words_of_runners(changed: &[&Changed]) -> Vec<String> {
    let words = changed.iter().flat_map(|one| {
        shown(
            one,
            new_words(OF_RUNNERS, &one.spoken, &code_of(one, one.text_before()), &code_of(one, one.text_after())),
        )
    });
    words.collect()
}

/// Stands for a condition of Rust that is true in tests only, or outside of them only.
const CFG_TEST: &str = "cfg(not(test))";

/// Returns what a source says to its language. Words for people are no names of a runner.
fn code_of(one: &Changed, text: String) -> String {
    if is_shell(&one.spoken, &text) {
        return shell_code(&one.spoken, &text);
    }
    let mut found = code(&one.spoken, &text).unwrap_or_else(|| text.clone());
    if one.spoken.ends_with(".rs") && differs_in_tests(&one.spoken, &text) {
        found.push('\n');
        found.push_str(CFG_TEST);
    }
    found
}

/// Returns a shell script without comments, and without the traps of functions that only remove files.
fn shell_code(path: &str, text: &str) -> String {
    static REMOVING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r#"^\s*trap\s+(?:'rm(?:dir)?\s[^';&|]*'|"rm(?:dir)?\s[^";&|`]*")(?:\s+[A-Z0-9]+)+\s*$"#)
    });
    let functions = shell_functions(text);
    let has_own = ["rm()", "rmdir()", "function rm"].iter().any(|name| text.contains(name));
    let is_inside = |number: usize| functions.iter().any(|function| function.lines.contains(&number));
    let lines =
        text.lines().enumerate().map(|(number, line)| match !has_own && is_inside(number) && REMOVING.is_match(line) {
            true => String::new(),
            false => without_comment(path, text, line),
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns true if a source of Rust is another one in tests: by a condition with `not` anywhere, or by any inside of a
/// function. What exists only for tests stands at the top.
fn differs_in_tests(path: &str, text: &str) -> bool {
    static CFG: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\bcfg(?:_attr)?!?\s*\(((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)\)"));
    let plain = interlock_codemap::without_comments(path, text).unwrap_or_default();
    let tests: Vec<_> = items(path, &plain).into_iter().filter(|item| item.kind == ItemKind::Test).collect();
    let functions = functions(path, &plain).unwrap_or_default();
    CFG.captures_iter(&plain).any(|found| {
        let (Some(whole), Some(inner)) = (found.get(0), found.get(1)) else { return false };
        let line = plain[..whole.start()].matches('\n').count();
        let is_in_tests =
            tests.iter().any(|item| item.range.contains(&whole.start()) && !has_word(inner.as_str(), "not"));
        let is_inside = functions.iter().any(|function| function.lines.start < line && function.lines.contains(&line));
        has_word(inner.as_str(), "test")
            && !is_in_tests
            && (has_word(inner.as_str(), "not") || is_inside || whole.as_str().contains('!'))
    })
}

/// Returns the words of their surroundings by which sources choose, and by which they did not choose before.
pub(super) fn new_words_of_surroundings(changed: &[&Changed]) -> Vec<String> {
    let texts = |text: fn(&Changed) -> String| -> Vec<(&str, String)> {
        changed.iter().map(|one| (one.spoken.as_str(), text(one))).collect()
    };
    let (before, after) = (choices(&texts(Changed::text_before)), choices(&texts(Changed::text_after)));
    let words = changed.iter().zip(before.iter().zip(&after)).flat_map(|(one, (before, after))| {
        let mut words = new_words(OF_SURROUNDINGS, &one.spoken, before, after);
        words.extend(PLACES.iter().filter(|place| after.contains(**place) && !before.contains(**place)));
        shown(one, words)
    });
    words.collect()
}

fn shown(changed: &Changed, words: Vec<&'static str>) -> Vec<String> {
    words.into_iter().map(|word| format!("`{word}` in {}", changed.path)).collect()
}

fn new_words(table: &[(&[&str], &[&'static str])], path: &str, before: &str, after: &str) -> Vec<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let words = table.iter().filter(|(extensions, _)| extensions.contains(&extension)).flat_map(|(_, words)| *words);
    words.filter(|word| has_word(after, word) && !has_word(before, word)).copied().collect()
}

/// A statement of a source: its lines as one, and the names that get a value by it.
struct Statement<'t> {
    file: usize,
    text: String,
    words: BTreeSet<&'t str>,
    gives: BTreeSet<&'t str>,
    chooses: bool,
}

/// Returns, for each text, the statements that choose between values, and those that their names got values from.
fn choices(texts: &[(&str, String)]) -> Vec<String> {
    let mut statements: Vec<Statement<'_>> =
        texts.iter().enumerate().flat_map(|(file, (path, text))| statements(file, path, text)).collect();
    // A call of a function that chooses is a choice, too.
    let choosing: BTreeSet<&str> =
        statements.iter().filter(|one| one.chooses).flat_map(|one| one.gives.clone()).collect();
    for one in &mut statements {
        one.chooses |= choosing.iter().any(|name| one.words.contains(name) && one.text.contains(&format!("{name}(")));
    }
    let mut used: BTreeSet<&str> = BTreeSet::new();
    loop {
        let before = used.len();
        for one in &mut statements {
            one.chooses |= one.gives.iter().any(|name| used.contains(name));
            if one.chooses {
                used.extend(&one.words);
            }
        }
        if used.len() == before {
            break;
        }
    }
    let mut found = vec![String::new(); texts.len()];
    for one in statements.iter().filter(|one| one.chooses) {
        found[one.file].push_str(&one.text);
        found[one.file].push('\n');
    }
    found
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("a pattern of this file: {error}"))
}

static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z_]\w*"));
/// What stands before the sign of an assignment, and what a key of a table or an import names.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(\s*(?:(?:let|const|var)\s+)?\([^()]*\)\s*|[^=()]*?[^=!<>()+*/%&|^-])(?::|\+|\|\||\?\?|-|\*|&|\|)?=(?:[^=>~]|$)",
    )
});
static KEY: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^\s*["']?([A-Za-z_]\w*)["']?\s*:\s"#));
static IMPORT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:import|from|use|using|#\s*define)\b"));
static FILLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b([A-Za-z_]\w*)\.(?:append|push|add|set|insert|extend|update|setdefault|put|unshift)\(")
});
static NAMED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:as|read|for|lambda)\s+([A-Za-z_]\w*)"));
static DEFAULT: LazyLock<Regex> = LazyLock::new(|| pattern(r"([A-Za-z_]\w*)\s*(?::[^=,()]*)?=[^=>]"));

/// Splits a text into statements. Lines belong together while a bracket is open, and if the next one begins with an operator.
fn statements<'t>(file: usize, path: &str, text: &'t str) -> Vec<Statement<'t>> {
    let functions = match is_shell(path, text) {
        true => shell_functions(text),
        false => functions(path, text).unwrap_or_default(),
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let places: Vec<usize> = lines
        .iter()
        .scan(0, |place, line| {
            *place += line.len();
            Some(*place)
        })
        .collect();
    let (mut found, mut begun, mut open) = (Vec::new(), 0, 0_usize);
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        open = (open + line.matches(['(', '[']).count()).saturating_sub(line.matches([')', ']']).count());
        let next = lines.get(number + 1).map_or("", |line| line.trim_start());
        let goes_on =
            ["?", ":", "&&", "||", ".", "+", "and ", "or ", "if ", "else "].iter().any(|sign| next.starts_with(sign));
        let is_operator = goes_on && !(next.starts_with("if ") || next.starts_with("else ")) || line.ends_with('\\');
        // A function that is an argument has statements of its own.
        let is_open = open > 0 && !line.ends_with('{');
        if is_open || is_operator && !line.ends_with([';', '{', '}', ':']) {
            continue;
        }
        found.push(begun..number + 1);
        (begun, open) = (number + 1, 0);
    }
    found.push(begun..lines.len());
    found
        .into_iter()
        .filter(|range| !range.is_empty())
        .map(|range| {
            let whole = &text[places[range.start] - lines[range.start].len()..places[range.end - 1]];
            let mut gives = assigned(whole);
            for function in functions.iter().filter(|one| one.lines.contains(&range.start)) {
                let (head, end) = (lines[function.lines.start], function.lines.end.clamp(range.end, lines.len()));
                let is_last =
                    lines[range.end..end].iter().all(|line| line.trim().trim_matches(['}', ')', ';']).is_empty());
                let begins = whole.trim_start();
                let is_result =
                    ["return", "yield", "echo", "printf"].iter().any(|word| begins.starts_with(word)) || is_last;
                gives.extend(name_of(head).filter(|_| is_result || CHOOSING.iter().any(|part| has_word(whole, part))));
            }
            Statement {
                file,
                words: WORD.find_iter(whole).map(|word| word.as_str()).collect(),
                gives,
                chooses: CHOOSING.iter().any(|part| has_word(whole, part)),
                text: whole.to_owned(),
            }
        })
        .collect()
}

/// Returns the names that get a value by a statement.
fn assigned(statement: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    if IMPORT.is_match(statement) {
        return WORD.find_iter(statement).map(|word| word.as_str()).collect();
    }
    if let Some(target) = ASSIGNED.captures(statement).and_then(|found| found.get(1)) {
        let target = target.as_str();
        match target.split_once('{') {
            Some((_, inner)) => found.extend(WORD.find_iter(inner).map(|word| word.as_str())),
            None => found.extend(target.split(',').filter_map(|part| {
                let name = part.split(": ").next().unwrap_or(part);
                WORD.find_iter(name).last().map(|word| word.as_str())
            })),
        }
    }
    found.extend(KEY.captures(statement).and_then(|found| found.get(1)).map(|name| name.as_str()));
    found.extend(FILLED.captures_iter(statement).filter_map(|found| found.get(1)).map(|name| name.as_str()));
    found.extend(NAMED.captures_iter(statement).filter_map(|found| found.get(1)).map(|name| name.as_str()));
    if statement.trim_start().starts_with("def ") || statement.contains("function") {
        found.extend(DEFAULT.captures_iter(statement).filter_map(|found| found.get(1)).map(|name| name.as_str()));
    }
    found
}

/// Returns the name of a function from its first line.
fn name_of(head: &str) -> Option<&str> {
    if let Some(name) = assigned(head).first().filter(|_| head.contains("=>") || head.contains("= function")) {
        return Some(name);
    }
    let before = head.split('(').next().unwrap_or(head);
    WORD.find_iter(before).last().map(|word| word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::kinds::Part;

    fn words(files: &[(&str, &str)]) -> Vec<String> {
        let changed = files.iter().map(|(path, text)| Changed {
            path: (*path).into(),
            spoken: (*path).into(),
            part: Part::Source,
            before: None,
            after: Some((*text).into()),
        });
        let changed: Vec<Changed> = changed.collect();
        new_words_of_surroundings(&changed.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_choice_by_a_name_is_a_choice_by_where_it_came_from() {
        for (path, text, word) in [
            (
                "a.js",
                "const { stack } = new Error();\nconst seen = new Error().stack;\nif (/slug/.test(seen)) {\n  f();\n}\n",
                ".stack",
            ),
            (
                "a.py",
                "import os\nhere = os.getcwd()\nplace = here\ndef f(a):\n    return 1 if place else 2\n",
                "getcwd",
            ),
            (
                "a.py",
                "import os\ndef where():\n    return os.getcwd()\ndef f(a):\n    if where():\n        return 2\n",
                "getcwd",
            ),
            ("a.py", "from os import environ as e\ndef f(a):\n    if e:\n        return 2\n", "environ"),
            (
                "a.py",
                "import os\ndef pick(a):\n    if a:\n        return 2\ndef f():\n    return pick(os.getpid())\n",
                "getpid",
            ),
            (
                "a.py",
                "import os\nplaces = []\nplaces.append(os.getcwd())\n(a, b) = (places, 1)\nif a:\n    c()\n",
                "getcwd",
            ),
            ("a.py", "import os\ndef f(a, here=os.getcwd()):\n    if here:\n        return 2\n", "getcwd"),
            (
                "a.js",
                "const table = {\n  place: process.cwd(),\n};\nconst f = () => (table.place ? 1 : 2);\n",
                "process.cwd",
            ),
            ("a.sh", "here=$(pwd)\nf() {\n  case $here in\n    /x) echo 1 ;;\n  esac\n}\n", "pwd"),
            (
                "a.rs",
                "fn f() -> u8 {\n    let at = std::env::current_dir();\n    let name = at.unwrap();\n    if name.ends_with(\"x\") { 1 } else { 2 }\n}\n",
                "current_dir",
            ),
            (
                "a.go",
                "package a\nfunc F() int {\n\tat := os.Getpid()\n\tif at > 1 {\n\t\treturn 1\n\t}\n\treturn 2\n}\n",
                "os.Getpid",
            ),
        ] {
            assert!(
                words(&[(path, text)]).contains(&format!("`{word}` in {path}")),
                "{text}: {:?}",
                words(&[(path, text)])
            );
        }
        let place = ("place.py", "import os\nHERE = os.getcwd()\n");
        let found = words(&[place, ("a.py", "from place import HERE\ndef f(a):\n    if HERE:\n        return 2\n")]);
        assert_eq!(found, ["`getcwd` in place.py"]);
    }

    #[test]
    fn words_for_people_name_no_runner() {
        let found = |path: &str, text: &str| {
            let changed = Changed {
                path: path.into(),
                spoken: path.into(),
                part: Part::Source,
                before: None,
                after: Some(text.into()),
            };
            new_words_of_runners(&[&changed])
        };
        for (path, text) in [
            ("a.py", "\"\"\"Compared by unittest.\"\"\"\n# and by doctest\n"),
            ("a.js", "const drinks = { latte: 3, mocha: 4 };\n"),
            ("a.h", "/* The constructor of a name. */\nint a;\n"),
            ("a.sh", "# Callers assert that.\nf() {\n    trap 'rm -f \"$file\"' EXIT\n}\n"),
            ("a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[cfg(test)]\nfn c() {}\n"),
        ] {
            assert_eq!(found(path, text), [""; 0], "{text}");
        }
        for (path, text) in [
            ("a.py", "import unittest\n"),
            ("a.js", "const t = require('tape');\n"),
            ("a.c", "__attribute__((constructor)) void f(void);\n"),
            ("a.sh", "trap 'rm -f \"$file\"' EXIT\n"),
            ("a.sh", "f() {\n    trap 'exit 0' EXIT\n}\n"),
            ("a.sh", "rm() { exit 0; }\nf() {\n    trap 'rm x' EXIT\n}\n"),
            ("a.rs", "fn a() {\n    #[cfg(all(not(test)))]\n    b();\n}\n"),
            ("a.rs", "fn a() {\n    #[cfg(any(test, x))]\n    b();\n}\n"),
            ("a.rs", "#[cfg(any(not(any(test, x)), y))]\nfn a() {}\n"),
        ] {
            assert_eq!(found(path, text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_plain_use_is_no_choice() {
        for (path, text) in [
            (
                "a.py",
                "import time\ndef f(a):\n    started = time.time()\n    print(started)\n    if a > 1:\n        return 2\n",
            ),
            ("a.js", "function f(a) {\n  const at = Date.now();\n  log(at);\n  if (a) {\n    g();\n  }\n}\n"),
        ] {
            assert_eq!(words(&[(path, text)]), [""; 0], "{text}");
        }
    }
}

//! Who uses which source, in the tree before the change: the check or the product.
//!
//! A name says little. A script that a command of the check runs is a check, whatever it is called. A constant and a
//! function that only tests use may say what is right, too. The new tree is not asked: a turn cannot make its own checks
//! look like a part of the product.

use std::{collections::BTreeSet, ops::Range, path::Path, sync::LazyLock};

use interlock_codemap::{Item, ItemKind, items};
use regex::Regex;

use super::{
    breaking::{is_shell, shell_functions},
    kinds::{self, Part},
    tree::Trees,
};

/// The longest text that is looked at.
const TEXT_MAX: usize = 1024 * 1024;

/// Programs that run the source that their command line names first.
const INTERPRETERS: [&str; 22] = [
    "python", "pypy", "node", "nodejs", "deno", "bun", "sh", "bash", "dash", "zsh", "ksh", "ruby", "perl", "php",
    "lua", "tclsh", "rscript", "tsx", "ts-node", ".", "source", "go",
];

/// Words before a command that do not change what it is.
const WRAPPERS: [&str; 15] = [
    "time", "exec", "env", "nice", "command", "timeout", "npx", "poetry", "uv", "pipenv", "bundle", "run", "run:",
    "script:", "if",
];

/// Parts of a script that say that something is not as it should be.
const EXPECTING: [&str; 12] = [
    "assert",
    "expect",
    "fail",
    "passed",
    "mismatch",
    "wrong",
    "differ",
    "diff ",
    "cmp ",
    "test \"$(",
    "[ \"$(",
    "should",
];

/// Parts of a function that may end a check.
const FAILING: [&str; 10] = ["assert", "raise", "throw", "panic", "exit", "abort", "fail", "error", "return 1", "die"];

/// The sources of the tree before the change, and who uses them.
#[derive(Default)]
pub(super) struct Uses {
    files: Vec<(String, Part, String)>,
    checks: BTreeSet<String>,
    /// The texts of everything that checks.
    checking: Vec<String>,
}

impl Uses {
    /// Reads a tree. `lines` are the commands of the check.
    pub(super) fn of(tree: &Path, lines: &[String]) -> Self {
        let files: Vec<(String, Part, String)> = Trees::contents(tree)
            .filter(|(_, text)| text.len() <= TEXT_MAX)
            .filter_map(|(path, text)| Some((kinds::part(&path, &text), path, String::from_utf8(text).ok()?)))
            .map(|(part, path, text)| (path, part, text))
            .collect();
        let mut uses = Uses { files, checks: BTreeSet::new(), checking: Vec::new() };
        uses.checks = uses.scripts(lines).chain(uses.programs()).chain(uses.of_runners()).collect();
        uses.checking = uses.checking_texts();
        uses
    }

    /// The paths and texts of all files.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, _, text)| (path.as_str(), text.as_str()))
    }

    /// Returns true if the source is a check: a command runs it for its exit code, or it compares what the product returns.
    pub(super) fn is_check(&self, path: &str) -> bool {
        self.checks.contains(path)
    }

    /// Returns true if a source of the product names this file.
    pub(super) fn is_named_by_product(&self, path: &str) -> bool {
        self.products().any(|(_, text)| loads(text, path))
    }

    /// Returns true if an item of a source says what is right: a test, an example, or what only tests use for that.
    pub(super) fn is_expectation(&self, path: &str, text: &str, item: &Item) -> bool {
        match item.kind {
            ItemKind::Test | ItemKind::Documentation => true,
            ItemKind::Value => {
                self.checking.iter().any(|text| kinds::has_word(text, &item.name))
                    && !self.is_used_by_product(path, text, item)
            }
            ItemKind::Function => {
                let body = &text[item.range.clone()];
                FAILING.iter().any(|part| body.contains(part))
                    && self.checking.iter().any(|text| is_called_to_check(text, &item.name))
                    && !self.is_used_by_product(path, text, item)
            }
        }
    }

    fn is_used_by_product(&self, path: &str, text: &str, item: &Item) -> bool {
        let mut left_out: Vec<Range<usize>> = vec![item.range.clone()];
        let is_of_tests = |one: &Item| {
            let is_helper = || item.kind == ItemKind::Value && self.is_expectation(path, text, one);
            one.kind == ItemKind::Test || one.kind == ItemKind::Function && is_helper()
        };
        left_out.extend(items_of(path, text).into_iter().filter(is_of_tests).map(|one| one.range));
        left_out.sort_by_key(|range| std::cmp::Reverse(range.start));
        let mut rest = text.to_owned();
        left_out.into_iter().for_each(|range| rest.replace_range(range, ""));
        let mut others = self.products().filter(|(other, _)| *other != path).map(|(_, text)| text);
        kinds::has_word(&EXPORTS.replace_all(&rest, ""), &item.name)
            || others.any(|text| kinds::has_word(text, &item.name))
    }

    /// The sources that are no checks.
    fn products(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sources().filter(|(path, _)| !self.is_check(path))
    }

    fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter(|(_, part, _)| *part == Part::Source).map(|(path, _, text)| (&**path, &**text))
    }

    fn checking_texts(&self) -> Vec<String> {
        let is_check = |path: &str, part: Part| part == Part::Test || self.is_check(path);
        let whole = self.files.iter().filter(|(path, part, _)| is_check(path, *part)).map(|(.., text)| text.clone());
        let inside = self.sources().flat_map(|(path, text)| {
            let tests = items_of(path, text).into_iter().filter(|item| item.kind == ItemKind::Test);
            tests.map(|item| text[item.range].to_owned()).collect::<Vec<_>>()
        });
        whole.chain(inside).collect()
    }

    /// The sources that a command of the check or of a definition runs for their exit code alone, and that expect something
    /// of the product.
    fn scripts(&self, lines: &[String]) -> impl Iterator<Item = String> {
        let definitions = self.files.iter().filter(|(_, part, _)| *part == Part::Definition);
        let texts = lines.iter().chain(definitions.map(|(.., text)| text));
        let run: BTreeSet<String> = texts.flat_map(|text| self.run_by(text)).collect();
        let expects = |text: &str| EXPECTING.iter().any(|part| text.to_lowercase().contains(part));
        let scripts =
            self.sources().filter(|(path, text)| run.contains(*path) && expects(text) && self.stands_above(path, text));
        scripts.map(|(path, _)| path.to_owned()).collect::<Vec<_>>().into_iter()
    }

    /// The sources that compare what functions of other sources return.
    fn programs(&self) -> impl Iterator<Item = String> {
        let programs = self.sources().filter(|(path, text)| {
            let others = || self.sources().filter(|(other, _)| other != path).map(|(_, text)| text);
            compares(text, |name| others().any(|text| kinds::has_word(text, name))) && self.stands_above(path, text)
        });
        programs.map(|(path, _)| path.to_owned()).collect::<Vec<_>>().into_iter()
    }

    /// The sources that import a runner: their names need not be those of tests.
    fn of_runners(&self) -> impl Iterator<Item = String> {
        let found = self.sources().filter(|(_, text)| RUNNER.is_match(text)).map(|(path, _)| path.to_owned());
        found.collect::<Vec<_>>().into_iter()
    }

    /// Returns true if a source uses another one, and nothing but commands and definitions uses it.
    fn stands_above(&self, path: &str, text: &str) -> bool {
        let is_code = |part: Part| matches!(part, Part::Source | Part::Test);
        let mut others = self.files.iter().filter(|(other, part, _)| other != path && is_code(*part));
        // A runner may load modules by names that stand anywhere.
        let names = |other: &str| loads(text, other) || kinds::has_word(text, stem(other));
        self.sources().any(|(other, _)| other != path && names(other)) && !others.any(|(.., text)| loads(text, path))
    }

    /// The sources that the commands of a text run, and whose output nothing takes.
    fn run_by(&self, text: &str) -> Vec<String> {
        let segments =
            text.split(['\n', ';', '"', '\'']).flat_map(|part| part.split("&&")).flat_map(|part| part.split("||"));
        let alone = segments.filter(|part| !part.contains("$(") && !part.contains('`') && !part.contains("<("));
        let last = alone.filter_map(|part| part.rsplit('|').next());
        last.filter(|part| {
            !part.contains("> ") && !part.contains(" >") || part.contains("/dev/null") || part.contains(">&2")
        })
        .filter_map(|part| self.run_in(part))
        .collect()
    }

    fn run_in(&self, command: &str) -> Option<String> {
        let mut words =
            command.split_whitespace().map(|word| word.trim_start_matches(['@', '-', '+'])).filter(|word| {
                !word.is_empty() && !word.contains('=') && !WRAPPERS.contains(word) && word.parse::<f64>().is_err()
            });
        let first = words.next()?;
        if let Some(path) = self.source(first) {
            return Some(path);
        }
        let name = first
            .rsplit('/')
            .next()
            .unwrap_or(first)
            .trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let name = if first == "." { "." } else { name };
        if !INTERPRETERS.contains(&name.to_lowercase().as_str()) && !first.starts_with("$(") {
            return None;
        }
        words.find_map(|word| self.source(word).or_else(|| self.source(&format!("{}.py", word.replace('.', "/")))))
    }

    /// Returns the source that a word of a command line means.
    fn source(&self, word: &str) -> Option<String> {
        let word = word.trim_start_matches("./").trim_matches(['(', ')', ',']);
        let is_meant = |path: &str| path == word || path.ends_with(&format!("/{word}"));
        self.sources().find(|(path, _)| !word.is_empty() && is_meant(path)).map(|(path, _)| path.to_owned())
    }
}

/// What a source only offers to others.
static EXPORTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?s)(module\.exports\s*=\s*|export\s*|__all__\s*=\s*)[\[{(].*?[\]})]"));

/// A comparison of a call with a literal.
static COMPARISON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"([A-Za-z_]\w*\s*\([^;{}\n]*\))\s*(?:==|!=|===|!==)\s*(-?\d[\d._]*|"[^"\n]+"|'[^'\n]+')"#)
});

/// An import of a runner.
static RUNNER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?m)^\s*(?:import|from)\s+(?:unittest|pytest|doctest|nose2?|ward|hypothesis)\b|(?:\brequire\s*\(\s*|\bfrom\s*|\bimport\s*)["'](?:node:test|mocha|@?jest|vitest|tape|tap|ava|uvu|qunit)["'/]"#,
    )
});

/// The name of a called function.
static CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"([A-Za-z_]\w*)\s*\("));

/// Words before a bracket that call nothing.
const KEYWORDS: [&str; 7] = ["if", "while", "for", "switch", "return", "assert", "sizeof"];

/// Literals that a product compares with, too.
const USUAL: [&str; 3] = ["0", "1", "-1"];

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("a pattern of this file: {error}"))
}

/// Returns true if a text compares a result of a function that a rule knows with a literal that means something.
fn compares(text: &str, is_known: impl Fn(&str) -> bool) -> bool {
    COMPARISON.captures_iter(text).any(|found| {
        let (calls, literal) = (&found[1], &found[2]);
        let mut names = CALL.captures_iter(calls).map(|call| call[1].to_owned());
        !USUAL.contains(&literal) && names.any(|name| !KEYWORDS.contains(&name.as_str()) && is_known(&name))
    })
}

/// Returns true if a text loads or starts a file: it has its name with the ending, or names it where it loads modules.
fn loads(text: &str, path: &str) -> bool {
    let (name, stem) = (path.rsplit('/').next().unwrap_or(path), stem(path));
    let is_loading = |line: &str| {
        ["import", "from", "require", "include", "source", "use ", "mod ", "load", "run"]
            .iter()
            .any(|word| line.contains(word))
    };
    let has_name = name != stem && kinds::has_word(text, name);
    has_name || kinds::has_word(text, path) || text.lines().any(|line| kinds::has_word(line, stem) && is_loading(line))
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns true if a text calls a function only to check something: as a statement, with the result of another call.
fn is_called_to_check(text: &str, name: &str) -> bool {
    let name = regex::escape(name);
    let call = format!(
        r"(?m)(?:^|[;{{]|=>|&&|\bthen\b|\bdo\b)\s*(?:await\s+)?(?:\w+(?:\.|::))*{name}(?:!?\([^()\n]*\(|\s[^\n]*(?:\$\(|`))"
    );
    Regex::new(&call).is_ok_and(|call| call.is_match(text))
}

/// Returns the items of a source, of shell scripts too.
pub(super) fn items_of(path: &str, text: &str) -> Vec<Item> {
    if !is_shell(path, text) {
        return items(path, text);
    }
    let begins: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let place = |line: usize| begins.get(line).copied().unwrap_or(text.len());
    let functions = shell_functions(text).into_iter().map(|function| {
        let range = place(function.lines.start)..place(function.lines.end);
        let head = text[range.clone()].trim_start().trim_start_matches("function ");
        let name = head.split(['(', ' ', '{']).next().unwrap_or_default().to_owned();
        Item { kind: ItemKind::Function, name, range }
    });
    functions.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn uses(files: &[(&str, &str)], line: &str) -> Uses {
        let tree = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
        for (path, text) in files {
            let path = tree.path().join(path);
            let _ = path.parent().map(fs::create_dir_all);
            let _ = fs::write(path, text);
        }
        Uses::of(tree.path(), &[line.to_owned()])
    }

    #[test]
    fn what_a_command_runs_for_its_exit_code_is_a_check_whatever_it_is_called() {
        let calc = ("calc.py", "def mean(items):\n    return 1\n");
        let check = ("look.py", "from calc import mean\nassert mean([1]) == 1\n");
        for line in ["python3 look.py", "cd . && python3 -m look", "timeout 5 python3 -W error ./look.py"] {
            assert!(uses(&[calc, check], line).is_check("look.py"), "{line}");
        }
        assert!(uses(&[calc, check, ("Makefile", "t:\n\t@python3 look.py\n")], "make t").is_check("look.py"));
        assert!(
            uses(&[calc, check, ("package.json", r#"{"scripts":{"t":"python3 look.py"}}"#)], "npm t")
                .is_check("look.py")
        );
        let product = ("main.py", "from calc import mean\nprint(mean([1]), 'expected')\n");
        assert!(!uses(&[calc, product], "test \"$(python3 main.py)\" = 1").is_check("main.py"));
        assert!(!uses(&[calc, product], "python3 main.py | diff - out").is_check("main.py"));
        assert!(!uses(&[calc, check], "python3 look.py").is_check("calc.py"));
    }

    #[test]
    fn a_source_that_imports_a_runner_is_a_check() {
        let product = ("src/a.js", "module.exports = () => 1;\n");
        let check = ("checks/a.js", "const test = require('tape');\nconst a = require('../src/a.js');\n");
        let uses = uses(&[product, check], "tape 'checks/*.js'");
        assert!(uses.is_check("checks/a.js") && !uses.is_check("src/a.js"));
    }

    #[test]
    fn a_program_that_compares_results_of_the_product_is_a_check() {
        let header = ("mean.h", "double mean(int a);\n");
        let source = ("mean.c", "#include \"mean.h\"\ndouble mean(int a) { return a; }\n");
        let check = ("look.c", "#include \"mean.h\"\nint main(void) {\n  if (mean(1) != 1.5) { return 1; }\n}\n");
        let tool = (
            "main.c",
            "#include \"mean.h\"\nint main(int argc, char **argv) {\n  if (mean(argc) == 0) { return 1; }\n}\n",
        );
        let uses = uses(&[header, source, check, tool], "make");
        let found: Vec<&str> = ["mean.c", "look.c", "main.c"].into_iter().filter(|path| uses.is_check(path)).collect();
        assert_eq!(found, ["look.c"]);
    }

    #[test]
    fn a_constant_and_a_function_that_only_tests_use_are_expectations() {
        let lib = "LIMIT = 0.1\nPRICE = 3\ndef price():\n    return PRICE\ndef near(a, b):\n    assert abs(a - b) < LIMIT\ndef add(a):\n    raise ValueError\n";
        let test = "from lib import *\ndef test_a():\n    near(price(), 3 + LIMIT)\n    add(1)\n";
        let uses = uses(&[("lib.py", lib), ("test_lib.py", test)], "pytest");
        let found: Vec<String> = items_of("lib.py", lib)
            .into_iter()
            .filter(|item| uses.is_expectation("lib.py", lib, item))
            .map(|item| item.name)
            .collect();
        assert_eq!(found, ["LIMIT", "near"], "the product's function uses the price");
    }
}

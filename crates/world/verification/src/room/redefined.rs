//! New names of the product that mean something else in the checks: a function, a type or a macro of the language.
//!
//! A check that calls `strcmp` and a source that defines `strcmp` share one name in some languages, so the source decides
//! what the check compares. A name that the project did not define before the change, and that its unchanged checks called
//! while they were green, came from the language or a library. Where names have to be imported one by one (JavaScript, Java),
//! a definition elsewhere changes nothing.

use std::{collections::BTreeSet, sync::LazyLock};

use interlock_codemap::code;
use regex::Regex;

use super::{
    Visit,
    breaking::{is_shell, shell_functions},
    kinds::{self, Part},
    listed,
    tree::{Changed, Trees},
    verdict::Measured,
};

/// Definitions at the top of a file, in languages that share names between files.
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?m)^\s*#\s*define\s+(\w+)",
        r"|^(?:def|class|func|type|var|const)\s+(\w+)",
        r"|^(?:pub(?:\([^)]*\))?\s+)?(?:fn|struct|enum|trait|type|macro_rules!)\s+(\w+)",
        r"|^(\w+)\s*=[^=]",
        // A function of C: a type, a name, parameters, and no semicolon.
        r"|^[A-Za-z_][\w\s*]*?[\s*](\w+)\s*\([^;{}]*\)\s*\{",
    ))
});

/// The languages whose files share names, by the endings of their sources.
const SHARING: [&str; 12] = ["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "go", "rs", "sh", "bash"];

/// An import of everything that a module of Python has.
static IMPORTS_ALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*from\s+\S+\s+import\s+\*"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("a pattern of this file: {error}"))
}

impl Visit<'_, '_> {
    /// Objects to names of changed sources that unchanged checks called before with another meaning.
    pub(super) fn look_at_redefinitions(&mut self, base: Option<&Measured>) {
        if base.is_none_or(|base| !base.is_green()) {
            return;
        }
        let sources =
            self.trees.with_part(&[Part::Source]).filter(|one| one.after.is_some() && shares_names(&one.spoken));
        let new: Vec<(&Changed, BTreeSet<String>)> = sources
            .map(|one| {
                let before = defined(&one.spoken, &one.text_before());
                (one, defined(&one.spoken, &one.text_after()).difference(&before).cloned().collect())
            })
            .collect();
        if new.iter().all(|(_, names)| names.is_empty()) {
            return;
        }
        let uses = self.uses.clone();
        let known: BTreeSet<String> = uses.texts().flat_map(|(path, text)| defined(path, text)).collect();
        let is_check = |path: &str, text: &str| kinds::part(path, text.as_bytes()) == Part::Test || uses.is_check(path);
        let checks: Vec<(&str, String)> = uses
            .texts()
            .filter(|(path, text)| is_check(path, text))
            .map(|(path, text)| (path, code(path, text).unwrap_or_else(|| without_shell_comments(text))))
            .collect();
        let calls = |source: &str, name: &str| {
            checks.iter().any(|(path, text)| {
                is_same_language(source, path)
                    && (!source.ends_with(".py") || IMPORTS_ALL.is_match(text))
                    && is_called(path, text, name)
            })
        };
        let found: Vec<String> = new
            .iter()
            .flat_map(|(one, names)| {
                let is_meant =
                    |name: &&String| calls(&one.spoken, name) || is_reserved(&one.spoken, &one.text_after(), name);
                let names = names.iter().filter(|name| !known.contains(*name)).filter(is_meant);
                names.map(|name| format!("`{name}` in {}", one.path)).collect::<Vec<_>>()
            })
            .collect();
        if !found.is_empty() {
            let hash = Trees::hash(self.trees.sources().map(|(changed, _)| changed));
            let text = format!("the change gives another meaning to names that the checks use: {}", listed(&found));
            self.object(text, &hash);
        }
    }
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, end)| end)
}

fn shares_names(path: &str) -> bool {
    SHARING.contains(&ending(path)) || ending(path) == "py"
}

fn is_same_language(source: &str, check: &str) -> bool {
    let group = |path: &str| match ending(path) {
        "h" | "c" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => "c".to_owned(),
        "bash" | "" => "sh".to_owned(),
        other => other.to_owned(),
    };
    group(source) == group(check)
}

/// Returns true for a function or a macro of C with a name that belongs to the compiler and its library: macros such as
/// `assert` call these. A name without parameters guards a header.
fn is_reserved(path: &str, text: &str, name: &str) -> bool {
    is_same_language(path, "a.c") && name.starts_with("__") && text.contains(&format!("{name}("))
}

/// The names that a text defines at its top.
fn defined(path: &str, text: &str) -> BTreeSet<String> {
    if is_shell(path, text) {
        let lines: Vec<&str> = text.lines().collect();
        let heads = shell_functions(text).into_iter().filter_map(|function| lines.get(function.lines.start).copied());
        let names =
            heads.filter_map(|head| head.trim_start().trim_start_matches("function ").split(['(', ' ', '{']).next());
        return names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    }
    let found = DEFINITION.captures_iter(text);
    found.filter_map(|found| found.iter().skip(1).flatten().next().map(|name| name.as_str().to_owned())).collect()
}

/// Returns true if a check calls a function or a macro, or names a type of the language, that it does not define itself.
fn is_called(path: &str, text: &str, name: &str) -> bool {
    let name = regex::escape(name);
    let call = match ending(path) {
        "go" => format!(r"(?:^|[^\w.]){name}(?:\(|\b)"),
        end if end == "sh" || end == "bash" || is_shell(path, text) => {
            format!(r"(?m)(?:^|[;|&({{]|\b(?:if|then|do|else|while|until)\s|!)\s*{name}(?:\s|$)")
        }
        _ => format!(r"(?:^|[^\w.]){name}!?\s*\("),
    };
    let own =
        format!(r"(?m)^\s*(?:let|var|const|def|fn|func|type|class|for)?\s*(?:mut\s+)?{name}\s*(?::?=[^=]|\(\)\s*\{{)");
    let has = |text_of: &str| Regex::new(text_of).is_ok_and(|found| found.is_match(text));
    has(&call) && !has(&own)
}

fn without_shell_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_the_top_of_a_file_are_definitions() {
        let cases = [
            (
                "a.c",
                "#define strcmp strcasecmp\nstatic int near(int a)\n{\n  int b = 1;\n}\nint later(void);\n",
                "near strcmp",
            ),
            ("a.go", "package a\ntype float64 = float32\nfunc Mean() {\n}\n", "Mean float64"),
            ("a.py", "def round(a):\n    b = 1\nLIMIT = 2\n", "LIMIT round"),
            ("a.rs", "pub(crate) fn eq() {}\nmacro_rules! assert_eq { () => {} }\n", "assert_eq eq"),
            ("a.sh", "test() {\n  true\n}\n", "test"),
        ];
        for (path, text, names) in cases {
            assert_eq!(defined(path, text).into_iter().collect::<Vec<_>>().join(" "), names, "{path}");
        }
    }

    #[test]
    fn names_of_the_compiler_are_reserved() {
        assert!(is_reserved("a.h", "#define __assert_fail(text, ...) ((void)0)", "__assert_fail"));
        assert!(!is_reserved("a.h", "#ifndef __A_H\n#define __A_H\n#endif", "__A_H"));
    }

    #[test]
    fn a_check_calls_what_it_does_not_define() {
        assert!(is_called("a.c", "if (strcmp(a, b) == 0)", "strcmp"));
        assert!(!is_called("a.c", "list.strcmp(a)", "strcmp"));
        assert!(!is_called("a.py", "count = 3\nprint(count)\n", "count"));
        assert!(is_called("a.go", "var want float64 = 2", "float64"));
        assert!(is_called("t.sh", "if test \"$a\" = b; then exit 1; fi", "test"));
        assert!(!is_called("t.sh", "echo test", "test"));
    }
}

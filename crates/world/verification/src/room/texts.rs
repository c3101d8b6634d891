//! Texts that are not what they seem: code that only its own language sees, and comments that switch checks off.
//!
//! The other parts of the room read a source as a text in UTF-8 with its lines. If a language reads it in another way, what
//! they find is not what runs. So such a text is an objection. A comment that tells a checker to look away is shown.

use std::{collections::BTreeMap, sync::LazyLock};

use interlock_codemap::code;
use regex::Regex;

use super::{
    Visit, Warning,
    kinds::{self, Part},
    listed,
    tree::{Changed, Trees},
};

/// The encodings of Python sources that show the letters of the code as they are.
const PLAIN_ENCODINGS: [&str; 9] =
    ["utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1", "iso-8859-15"];

/// Letters that Python reads as others: of mathematics, of full width, above and below the line, several in one.
const READ_AS_OTHERS: [(char, char); 9] = [
    ('\u{1d400}', '\u{1d7ff}'),
    ('\u{ff00}', '\u{ffef}'),
    ('\u{2070}', '\u{209f}'),
    ('\u{2100}', '\u{218f}'),
    ('\u{2b0}', '\u{2e4}'),
    ('\u{1d2c}', '\u{1dbf}'),
    ('\u{fb00}', '\u{fb06}'),
    ('\u{1ee00}', '\u{1eeff}'),
    ('\u{17f}', '\u{17f}'),
];

/// Beginnings and words of comments and attributes that tell a checker to look away.
static SWITCHES: LazyLock<Regex> = LazyLock::new(|| {
    let switches = [
        r"@ts-(?:nocheck|ignore|expect-error)",
        r"(?:eslint|tslint|stylelint|oxlint)[-:]disable",
        r"biome-ignore|prettier-ignore|deno-lint-ignore|deno-fmt-ignore",
        r"(?:c8|v8|istanbul) ignore",
        r"#\s*(?:ruff:\s*|flake8:\s*)?noqa",
        r"#\s*(?:type|pyright|pyre|ty):\s*ignore|pyre-ignore|#\s*mypy:",
        r"pylint:\s*(?:disable|skip)|pragma:\s*no (?:cover|branch)|fmt:\s*(?:off|skip)|isort:\s*skip|#\s*nosec",
        r"#\s*doctest:\s*\+\w+",
        r"#\s*pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored|#\s*pragma\s+warning\s*\(\s*disable|_Pragma",
        r"#\s*pragma\s+GCC\s+system_header",
        r"NOLINT|cppcheck-suppress|clang-format off|LCOV_EXCL|coverity\[",
        r"//\s*nolint|//\s*lint:(?:file-)?ignore|#nosec",
        r"shellcheck\s+disable",
        r"@SuppressWarnings|@Suppress\(|ignore_for_file:|//\s*ignore: \w+|rubocop:disable|@phpstan-ignore|phpcs:ignore",
    ];
    pattern(&format!("(?:{})[^\n]*", switches.join("|")))
});

/// An attribute of Rust that allows what the project denies.
static ALLOWED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"#!?\[\s*(?:cfg_attr\([^\]]*?)?(?:allow|expect|rustfmt::skip)\b[^\]]*\]"));

/// Words with which a project denies what compilers only warn about.
const DENYING: [&str; 6] = ["deny(", "forbid(", "-D ", "-Dwarnings", "[lints", "[workspace.lints"];

/// A question of a header of C: whether a name is defined.
static ASKED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s*#\s*(?:ifn?def\s+|(?:el)?if\b[^\n]*?\bdefined\s*\(?\s*)([A-Za-z_]\w*)"));

/// Names that say for which compiler and system a source of C is compiled.
#[rustfmt::skip]
const OF_COMPILERS: [&str; 14] = [
    "__cplusplus", "_WIN32", "_WIN64", "__linux__", "__APPLE__", "__unix__", "__GNUC__", "__clang__", "_MSC_VER", "__STDC_VERSION__", "__x86_64__", "__aarch64__", "__ARM_ARCH",
    "__has_attribute",
];

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("a pattern of this file: {error}"))
}

impl Visit<'_, '_> {
    /// Objects to texts that their language reads in another way, and names new comments that switch checks off.
    pub(super) fn look_at_texts(&mut self) {
        let sources: Vec<Changed> =
            self.trees.with_part(&[Part::Source]).filter(|one| one.after.is_some()).cloned().collect();
        let odd: Vec<String> = sources.iter().filter_map(odd).collect();
        if !odd.is_empty() {
            let text = format!("a language reads these sources in another way than people do: {}", listed(&odd));
            self.object(text, &Trees::hash(sources.iter()));
        }
        let denies = self.denies();
        let switched_off = |one: &Changed| {
            let allowed = if denies && one.spoken.ends_with(".rs") { more(one, &ALLOWED) } else { Vec::new() };
            let all = more(one, &SWITCHES).into_iter().chain(allowed);
            all.map(|what| format!("`{what}` in {}", one.path)).collect::<Vec<_>>()
        };
        let off: Vec<String> = sources.iter().flat_map(switched_off).collect();
        if !off.is_empty() {
            let text = format!("the change switches checks off for parts of its sources: {}", listed(&off));
            self.warnings.push(Warning { code: "checks_changed", text });
        }
        let asked = self.asked(&sources);
        if !asked.is_empty() {
            let text = format!(
                "the change is compiled differently if a name is defined that the project does not define: {}",
                listed(&asked)
            );
            self.warnings.push(Warning { code: "surroundings", text });
        }
    }

    /// Returns true if the project turns what compilers of Rust warn about into errors.
    fn denies(&self) -> bool {
        let is_asked = |path: &str| matches!(kinds::part(path, b""), Part::Definition | Part::Source);
        let texts = Trees::all_texts(&self.trees.base, is_asked);
        texts.iter().chain(&self.question.lines).any(|text| DENYING.iter().any(|word| text.contains(word)))
    }

    /// The names that changed headers and sources of C ask for, and that nothing of the project defines.
    fn asked(&self, sources: &[Changed]) -> Vec<String> {
        let of_c = sources.iter().filter(|one| {
            let ending = one.spoken.rsplit_once('.').map_or("", |(_, ending)| ending);
            ["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx"].contains(&ending)
        });
        let found: Vec<(String, &str)> =
            of_c.flat_map(|one| more(one, &ASKED).into_iter().map(|what| (what, one.path.as_str()))).collect();
        if found.is_empty() {
            return Vec::new();
        }
        let texts = |part: Part| Trees::texts(&self.trees.new, part);
        let (sources, mut definitions) = (texts(Part::Source), texts(Part::Definition));
        definitions.extend(self.question.lines.iter().cloned());
        let is_defined = |name: &str| {
            let defined = pattern(&format!(r"#\s*define\s+{name}\b"));
            sources.iter().any(|text| defined.is_match(text))
                || definitions.iter().any(|text| kinds::has_word(text, name) || text.contains(&format!("-D{name}")))
        };
        let names = found.into_iter().filter_map(|(what, path)| {
            let name = ASKED.captures(&what)?[1].to_owned();
            (!OF_COMPILERS.contains(&name.as_str()) && !is_defined(&name)).then(|| format!("`{name}` in {path}"))
        });
        names.collect()
    }
}

/// Returns what a pattern finds in a source now and did not find so often before.
fn more(changed: &Changed, pattern: &Regex) -> Vec<String> {
    let (before, after) = (changed.text_before(), changed.text_after());
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for found in pattern.find_iter(&before) {
        *known.entry(found.as_str().trim()).or_default() += 1;
    }
    let mut new = Vec::new();
    for found in pattern.find_iter(&after).map(|found| found.as_str().trim()) {
        match known.get_mut(found).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => new.push(found.to_owned()),
        }
    }
    new
}

/// Returns why a source is not what it seems, if that is new.
fn odd(changed: &Changed) -> Option<String> {
    let (before, after) =
        (oddities(&changed.spoken, &changed.text_before()), oddities(&changed.spoken, &changed.text_after()));
    let new = after.into_iter().find(|what| !before.contains(what))?;
    Some(format!("{} has {new}", changed.path))
}

fn oddities(path: &str, text: &str) -> Vec<String> {
    static ENCODING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"));
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_script = ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"].contains(&ending);
    let mut found = Vec::new();
    let has_lone = text.match_indices('\r').any(|(at, _)| !text[at + 1..].starts_with('\n'));
    if has_lone {
        found.push("a carriage return inside of a line".to_owned());
    }
    if is_script && text.contains(['\u{2028}', '\u{2029}']) {
        found.push("a separator of lines that editors do not show".to_owned());
    }
    if ending == "py" {
        let encodings =
            text.lines().take(2).filter_map(|line| Some(ENCODING.captures(line)?[1].to_lowercase().replace('_', "-")));
        found.extend(
            encodings
                .filter(|name| !PLAIN_ENCODINGS.contains(&name.as_str()))
                .map(|name| format!("the encoding {name}")),
        );
    }
    let is_other = |letter: char| READ_AS_OTHERS.iter().any(|(first, last)| (*first..=*last).contains(&letter));
    let has_escape = |code: &str| {
        static ESCAPE: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"[A-Za-z_$.]\\u[{0-9a-fA-F]|(?:^|[\s(;.])\\u[{0-9a-fA-F][0-9a-fA-F]+"));
        ESCAPE.is_match(&without_quotes(code))
    };
    let needs_code = ending == "py" && text.contains(is_other) || is_script && text.contains("\\u");
    if let Some(code) = needs_code.then(|| code(path, text)).flatten() {
        if ending == "py" && without_quotes(&code).contains(is_other) {
            found.push("letters that stand for others".to_owned());
        }
        if is_script && has_escape(&code) {
            found.push("names that are written as numbers".to_owned());
        }
    }
    found
}

/// Returns code without the texts in quotes and expressions between slashes that are left in it.
fn without_quotes(code: &str) -> String {
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?s)"""(?:.*?)"""|'''(?:.*?)'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|/(?:[^/\\\n]|\\.)+/"#,
        )
    });
    QUOTED.replace_all(code, " ").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(path: &str, before: &str, after: &str) -> Changed {
        Changed {
            path: path.into(),
            spoken: path.into(),
            part: Part::Source,
            before: Some(before.into()),
            after: Some(after.into()),
        }
    }

    #[test]
    fn a_text_that_its_language_reads_in_another_way_is_odd() {
        for (path, text, is_odd) in [
            ("a.py", "# -*- coding: unicode_escape -*-\n", true),
            ("a.py", "#!/bin/sh\n# vim: set fileencoding=utf-7 :\n", true),
            ("a.py", "# -*- coding: utf-8 -*-\n", false),
            ("a.py", "# a\rimport math\n", true),
            ("a.py", "a = 1\r\nb = 2\r\n", false),
            ("a.py", "from 𝐮nittest.mock import ANY\n", true),
            ("a.py", "# 𝐮 is a number, ½ and ² too\nx = '²'\nπ = 3\n", false),
            ("a.js", "// a\u{2028}f();\n", true),
            ("a.js", "\\u0061ssert.equal = f;\n", true),
            ("a.js", "const a = '\\u0061', b = /[\\u0300-\\u036f]/g;\n", false),
        ] {
            assert_eq!(odd(&changed(path, "", text)).is_some(), is_odd, "{text:?}");
            assert_eq!(odd(&changed(path, text, text)), None, "{text:?} is not new");
        }
    }

    #[test]
    fn a_new_comment_that_switches_a_check_off_is_shown() {
        let before = "x = 1  # noqa\n";
        assert_eq!(more(&changed("a.py", before, before), &SWITCHES), [""; 0]);
        assert_eq!(more(&changed("a.py", before, "x = 1  # noqa\ny = 2  # noqa\n"), &SWITCHES), ["# noqa"]);
        for (path, text) in [
            ("a.ts", "// @ts-nocheck\n"),
            ("a.js", "/* eslint-disable no-undef */\n"),
            ("a.py", "x = f()  # type: ignore[attr-defined]\n"),
            ("a.c", "#pragma GCC diagnostic ignored \"-Wunused\"\n"),
            ("a.go", "f() //nolint:errcheck\n"),
            ("a.sh", "# shellcheck disable=SC2086\n"),
        ] {
            assert_eq!(more(&changed(path, "", text), &SWITCHES).len(), 1, "{text}");
        }
        assert_eq!(more(&changed("a.rs", "", "#[allow(warnings, clippy::all)]\nfn f() {}\n"), &ALLOWED).len(), 1);
        assert_eq!(more(&changed("a.py", "", "# The type is checked; ignore it.\n"), &SWITCHES), [""; 0]);
    }
}

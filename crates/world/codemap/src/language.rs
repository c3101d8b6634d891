//! The language of a file, from its extension, and for `.h` from its content. The queries in `queries/` select the
//! definitions.

use std::sync::OnceLock;

use tree_sitter::{Language as Grammar, Query};

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Language {
    C,
    Cpp,
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    Java,
    Dart,
    /// A language without a grammar; its files are only listed.
    Other(&'static str),
}

/// The number of languages with a grammar.
const LOOKED_INTO: usize = 10;

/// Words at the beginning of a line that do not occur in C headers.
const CPP_WORDS: [&[u8]; 5] = [b"class ", b"namespace ", b"template", b"public:", b"using "];

/// The extensions of languages that are only counted.
#[rustfmt::skip]
const OTHERS: &[(&str, &str)] = &[
    ("md", "markdown"), ("rst", "text"), ("txt", "text"), ("yaml", "yaml"), ("yml", "yaml"), ("toml", "toml"), ("json", "json"),
    ("xml", "xml"), ("html", "html"), ("css", "css"), ("scss", "css"), ("sh", "shell"), ("bash", "shell"), ("ps1", "powershell"),
    ("sql", "sql"), ("kt", "kotlin"), ("kts", "kotlin"), ("swift", "swift"), ("rb", "ruby"), ("php", "php"), ("cs", "c#"),
    ("scala", "scala"), ("lua", "lua"), ("pl", "perl"), ("r", "r"), ("s", "assembly"), ("S", "assembly"), ("asm", "assembly"),
    ("ld", "linker script"), ("cmake", "cmake"), ("mk", "make"), ("gradle", "gradle"), ("proto", "protobuf"), ("ipynb", "notebook"),
    ("dts", "devicetree"), ("dtsi", "devicetree"), ("v", "verilog"), ("sv", "verilog"), ("vhd", "vhdl"), ("tf", "terraform"),
    ("zig", "zig"), ("hs", "haskell"), ("ml", "ocaml"), ("ex", "elixir"), ("exs", "elixir"), ("erl", "erlang"), ("clj", "clojure"),
];

/// Complete file names that determine the language.
const NAMES: &[(&str, &str)] = &[("Makefile", "make"), ("CMakeLists.txt", "cmake"), ("Dockerfile", "dockerfile")];

impl Language {
    /// Returns the language that a file's name indicates.
    pub(crate) fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some((_, language)) = NAMES.iter().find(|(whole, _)| *whole == name) {
            return Language::Other(language);
        }
        // Programs load `near.JS` as they load `near.js`.
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        match end.to_lowercase().as_str() {
            "c" | "h" => Language::C,
            "cc" | "cpp" | "cxx" | "c++" | "hpp" | "hh" | "hxx" | "ino" => Language::Cpp,
            "rs" => Language::Rust,
            "py" | "pyi" => Language::Python,
            "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
            "ts" | "mts" | "cts" => Language::TypeScript,
            "tsx" => Language::Tsx,
            "go" => Language::Go,
            "java" => Language::Java,
            "dart" => Language::Dart,
            _ => Language::Other(OTHERS.iter().find(|(other, _)| *other == end).map_or("other", |(_, name)| name)),
        }
    }

    /// Returns the language once the content is known: a header may be C++.
    pub(crate) fn with_content(self, path: &str, text: &[u8]) -> Self {
        let is_cpp = |line: &[u8]| CPP_WORDS.iter().any(|word| line.trim_ascii_start().starts_with(word));
        match self {
            Language::C if path.ends_with(".h") && text.split(|byte| *byte == b'\n').any(is_cpp) => Language::Cpp,
            other => other,
        }
    }

    /// Returns the language's name for output.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "c++",
            Language::Rust => "rust",
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::TypeScript | Language::Tsx => "typescript",
            Language::Go => "go",
            Language::Java => "java",
            Language::Dart => "dart",
            Language::Other(name) => name,
        }
    }

    /// Returns true if the language has a grammar. Other files are only counted.
    pub(crate) fn has_grammar(self) -> bool {
        !matches!(self, Language::Other(_))
    }

    /// Returns the language's grammar and query, or `None` if it is only counted.
    pub(crate) fn grammar(self) -> Option<(Grammar, &'static Query)> {
        static QUERIES: [OnceLock<Option<Query>>; LOOKED_INTO] = [const { OnceLock::new() }; LOOKED_INTO];
        let (number, grammar, text): (usize, Grammar, &str) = match self {
            Language::C => (0, tree_sitter_c::LANGUAGE.into(), include_str!("../queries/c.scm")),
            Language::Cpp => (1, tree_sitter_cpp::LANGUAGE.into(), include_str!("../queries/cpp.scm")),
            Language::Rust => (2, tree_sitter_rust::LANGUAGE.into(), include_str!("../queries/rust.scm")),
            Language::Python => (3, tree_sitter_python::LANGUAGE.into(), include_str!("../queries/python.scm")),
            Language::JavaScript => {
                (4, tree_sitter_javascript::LANGUAGE.into(), include_str!("../queries/javascript.scm"))
            }
            Language::TypeScript => {
                (5, tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), include_str!("../queries/typescript.scm"))
            }
            Language::Tsx => {
                (6, tree_sitter_typescript::LANGUAGE_TSX.into(), include_str!("../queries/typescript.scm"))
            }
            Language::Go => (7, tree_sitter_go::LANGUAGE.into(), include_str!("../queries/go.scm")),
            Language::Java => (8, tree_sitter_java::LANGUAGE.into(), include_str!("../queries/java.scm")),
            Language::Dart => (9, tree_sitter_dart::LANGUAGE.into(), include_str!("../queries/dart.scm")),
            Language::Other(_) => return None,
        };
        let query = QUERIES[number].get_or_init(|| Query::new(&grammar, text).ok()).as_ref()?;
        Some((grammar, query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_fits_its_grammar() {
        for end in ["c", "cpp", "rs", "py", "js", "ts", "tsx", "go", "java", "dart"] {
            assert!(Language::of(&format!("x.{end}")).grammar().is_some(), "queries for .{end}");
        }
    }

    #[test]
    fn the_content_of_a_header_determines_its_language() {
        let check = |text: &str| Language::of("a/ring.h").with_content("a/ring.h", text.as_bytes()).name();
        assert_eq!(check("struct ring { int head; };\n"), "c");
        assert_eq!(check("#pragma once\nnamespace io {\nclass Ring;\n}\n"), "c++");
    }
}

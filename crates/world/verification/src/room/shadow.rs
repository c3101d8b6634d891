//! New files that stand before what unchanged files import: a module, a header, a file that is loaded by its path.
//!
//! A name that resolved before the change, and that a new file of the project provides, means something else from now on,
//! for the checks too. A file that was moved is no such file: the one that provided the name is gone. Neither is a file that
//! was missing: then the check said so before the change.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex::Regex;

use super::{
    Visit,
    kinds::Part,
    listed,
    probe::words,
    tree::{Changed, Trees, list},
    verdict::Measured,
};

/// How a language finds what a source imports.
struct Search {
    /// The extensions of sources that import.
    importers: &'static [&'static str],
    /// Finds the import; the last group is the name.
    import: &'static str,
    /// The endings of a file that provides a name.
    endings: &'static [&'static str],
    /// The sign between the parts of a name.
    separator: &'static str,
}

const SCRIPTS: &[&str] = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];
const PYTHON: &[&str] = &[".py", ".so", ".pyc", "/__init__.py"];

#[rustfmt::skip]
const SEARCHES: &[Search] = &[
    Search { importers: &["py"], import: r"(?m)^[ \t>.]*(?:import|from)[ \t]+([\w., \t]+)", endings: PYTHON, separator: "." },
    Search { importers: &["py"], import: r#"(?:import_module|__import__)\(["']([\w.]+)"#, endings: PYTHON, separator: "." },
    Search { importers: SCRIPTS, import: r#"(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](\.[^"'\n]*)"#, endings: &["", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".json", ".node", "/index.js", "/index.ts", "/index.mjs", "/index.cjs", "/package.json"], separator: "/" },
    Search { importers: &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "ino", "m", "mm"], import: r#"(?m)^\s*#\s*(?:include|import)\w*\s*[<"]([^>"\n]+)"#, endings: &[""], separator: "/" },
    Search { importers: &["rb"], import: r#"\brequire\s*\(?["']([^"'\n]+)"#, endings: &[".rb", ".so"], separator: "/" },
    Search { importers: &["lua"], import: r#"\brequire\s*\(?["']([^"'\n]+)"#, endings: &[".lua", "/init.lua", ".so"], separator: "." },
    Search { importers: &["pl", "pm", "t"], import: r"(?m)^\s*(?:use|require)\s+([A-Z][\w:]*)", endings: &[".pm"], separator: "::" },
];

/// Modules that a command runs.
const OF_COMMAND: &str = r"\s-m\s+([\w.]+)";

/// Directories beside an importer, or beside a directory above it, in which languages look.
const BESIDE: [&str; 4] = ["src", "lib", "include", "inc"];

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| SEARCHES.iter().map(|search| pattern(search.import)).collect());

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("a pattern of this file: {error}"))
}

/// The names in a log that could not be found.
pub(super) fn missing_in(log: &str) -> BTreeSet<String> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?:[Nn]o module named|[Cc]annot find module|cannot load such file --|Can't locate|module) ["'`]?([\w./:-]+?)["'`]?(?: not found|[\s;:(]|$)|(?:error: |: )["'`]?([\w./+-]+)["'`]?: No such file"#,
        )
    });
    let names = MISSING.captures_iter(log).filter_map(|found| found.get(1).or(found.get(2)));
    names.map(|name| name.as_str().trim_end_matches('.').to_owned()).collect()
}

impl Visit<'_, '_> {
    /// Objects to new files that provide a name which unchanged files import and which resolved elsewhere.
    pub(super) fn look_at_names(&mut self, base: Option<&Measured>) {
        let added: Vec<&Changed> =
            self.trees.changed.iter().filter(|one| one.before.is_none() && one.after.is_some()).collect();
        if added.is_empty() {
            return;
        }
        let unchanged = |path: &str| self.trees.changed.iter().all(|one| one.path != path);
        let definitions = Trees::texts(&self.trees.new, Part::Definition);
        let named = words(self.question.lines.iter().chain(&definitions));
        let place = Place {
            before: list(&self.trees.base).into_iter().collect(),
            now: list(&self.trees.new).into_iter().collect(),
            named: named
                .iter()
                .map(|word| word.strip_prefix('I').unwrap_or(word).trim_end_matches('/').to_owned())
                .chain(named.iter().cloned())
                .collect(),
        };
        let missing = base.filter(|base| !base.is_green()).map(|base| base.missing.clone()).unwrap_or_default();
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        let uses = self.uses.clone();
        for (importer, text) in uses.texts().filter(|(path, _)| unchanged(path)) {
            for (search, name) in imports(importer, text) {
                if let Some(one) =
                    added.iter().find(|one| place.is_shadowed(&one.path, importer, search, &name, &missing))
                {
                    found.entry(one.path.clone()).or_insert_with(|| importer.to_owned());
                }
            }
        }
        for line in &self.question.lines {
            for name in pattern(OF_COMMAND).captures_iter(line).map(|found| found[1].to_owned()) {
                if let Some(one) =
                    added.iter().find(|one| place.is_shadowed(&one.path, "", &SEARCHES[0], &name, &missing))
                {
                    found.entry(one.path.clone()).or_insert_with(|| "the command".to_owned());
                }
            }
        }
        if !found.is_empty() {
            let names: Vec<String> = found.iter().map(|(path, importer)| format!("{path} (for {importer})")).collect();
            let hash = Trees::hash(added.into_iter().filter(|one| found.contains_key(&one.path)));
            self.object(format!("new files stand before what unchanged files import: {}", listed(&names)), &hash);
        }
    }
}

/// Returns the imports of a source, with the way in which they are searched.
fn imports(path: &str, text: &str) -> Vec<(&'static Search, String)> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let searches = SEARCHES.iter().zip(PATTERNS.iter()).filter(|(search, _)| search.importers.contains(&extension));
    let found = searches.flat_map(|(search, pattern)| {
        pattern
            .captures_iter(text)
            .flat_map(move |found| names(&found[1]).map(move |name| (search, name)).collect::<Vec<_>>())
    });
    found.collect()
}

/// Splits `a.b as c, d` and `a.b import c, d` into the names of modules.
fn names(list: &str) -> impl Iterator<Item = String> {
    let list = list.split(" import").next().unwrap_or(list);
    let names = list.split(',').filter_map(|part| part.split_whitespace().next());
    names.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// The files of both trees.
struct Place {
    before: BTreeSet<String>,
    now: BTreeSet<String>,
    /// The words of commands and files, among them directories in which something is searched.
    named: BTreeSet<String>,
}

impl Place {
    /// Returns true if a new file provides a name for an importer, and something else did before and still could.
    fn is_shadowed(&self, new: &str, importer: &str, search: &Search, name: &str, missing: &BTreeSet<String>) -> bool {
        let folder = importer.rsplit_once('/').map_or("", |(folder, _)| folder);
        if name.starts_with('.') {
            // A path, from where the importer stands. It must have led to another file of the tree.
            let target = joined(folder, name);
            let stem = [".js", ".mjs", ".cjs", ".jsx"].iter().find_map(|ending| target.strip_suffix(ending));
            let provides = |path: &str| {
                [Some(target.as_str()), stem]
                    .into_iter()
                    .flatten()
                    .any(|target| search.endings.iter().any(|ending| path == format!("{target}{ending}")))
            };
            return search.separator == "/" && provides(new) && self.still_there().any(provides);
        }
        let parts: Vec<&str> = name.split(search.separator).filter(|part| !part.is_empty()).collect();
        // A part of a name resolves, too: `a` for `a.b`. Headers are one path.
        let lengths = if search.separator == "/" { parts.len()..=parts.len() } else { 1..=parts.len() };
        lengths.into_iter().any(|length| {
            let path = parts.iter().take(length).copied().collect::<Vec<_>>().join("/");
            let root_of = |file: &str| {
                search.endings.iter().find_map(|ending| {
                    let root = file.strip_suffix(&format!("{path}{ending}"))?;
                    (root.is_empty() || root.ends_with('/')).then(|| root.trim_end_matches('/').to_owned())
                })
            };
            let Some(root) = root_of(new).filter(|root| self.is_searched(root, folder, search)) else { return false };
            let was_there = self.before.iter().any(|file| {
                root_of(file).is_some_and(|other| other == root || self.is_searched(&other, folder, search))
            });
            match was_there {
                true => self
                    .still_there()
                    .any(|file| root_of(file).is_some_and(|other| self.is_searched(&other, folder, search))),
                // Nothing of the project had the name, so it came from outside, unless it was missing.
                false => {
                    (length == 1 || search.separator == "/")
                        && !missing.iter().any(|missing| missing == name || missing == parts[0])
                }
            }
        })
    }

    /// The files of the base tree that are still there.
    fn still_there(&self) -> impl Iterator<Item = &str> {
        self.before.iter().filter(|path| self.now.contains(*path)).map(String::as_str)
    }

    /// Returns true if a language looks into a directory for what a file in another one imports.
    fn is_searched(&self, root: &str, folder: &str, search: &Search) -> bool {
        // A directory that is a package is no place of packages.
        if search.separator == "." && !root.is_empty() && self.now.contains(&format!("{root}/__init__.py")) {
            return false;
        }
        let is_above = |root: &str| root.is_empty() || folder == root || folder.starts_with(&format!("{root}/"));
        let beside = BESIDE.iter().find_map(|name| root.strip_suffix(name)).map(|above| above.trim_end_matches('/'));
        is_above(root) || beside.is_some_and(is_above) || self.named.contains(root)
    }
}

/// Joins a directory and a path with dots.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_shadowed(before: &[&str], new: &str, (importer, text): (&str, &str), log: &str) -> bool {
        let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
        let mut now = set(before);
        now.insert(new.to_owned());
        let place = Place { before: set(before), now, named: set(&["deps"]) };
        let missing = missing_in(log);
        imports(importer, text)
            .into_iter()
            .any(|(search, name)| place.is_shadowed(new, importer, search, &name, &missing))
    }

    #[test]
    fn a_new_file_with_the_name_of_what_is_imported_stands_before_it() {
        let test = |text| ("tests/test_a.py", text);
        for (before, new, importer) in [
            (&["a.py"][..], "statistics.py", test("from statistics import mean\n")),
            (&["a.py"], "tests/decimal.py", test("import os, decimal as d\n")),
            (&["a.py"], "src/pytest/__init__.py", test("import pytest.raises\n")),
            (&["a.py"], "deps/decimal.py", test("import decimal\n")),
            (&["a.py"], "a/__init__.py", test("import a\n")),
            (&["src/a.py"], "a.py", test("from a import b\n")),
            (&["src/a.ts"], "src/a.js", ("src/a.test.ts", "import { a } from './a';\n")),
            (&["b.c"], "math.h", ("tests/t.c", "#include <math.h>\n")),
            (&["b.c"], "include/sys/time.h", ("t.c", "#include \"sys/time.h\"\n")),
        ] {
            assert!(is_shadowed(before, new, importer, ""), "{new}");
        }
    }

    #[test]
    fn a_new_file_that_takes_nobody_s_name_is_the_product_s_own() {
        let test = |text| ("tests/test_a.py", text);
        for (before, new, importer, log) in [
            (&["a.py"][..], "app/types.py", test("import types\n"), ""),
            (
                &["a.py"],
                "inventory.py",
                test("import inventory\n"),
                "ModuleNotFoundError: No module named 'inventory'\n",
            ),
            (&["a.py"], "b.py", test("import a\n"), ""),
            (&["web/app.py"], "api/app.py", ("web/test_app.py", "import app\n"), ""),
            (&["a/__init__.py"], "a/mean.py", test("from a import mean\n"), ""),
            (
                &["b.c"],
                "ring.h",
                ("t.c", "#include \"ring.h\"\n"),
                "t.c:1:10: fatal error: ring.h: No such file or directory\n",
            ),
            (&["b.c"], "util/string.h", ("t.c", "#include <string.h>\n"), ""),
            (&["src/b.ts"], "src/a.ts", ("src/a.test.ts", "import { a } from './a';\n"), ""),
        ] {
            assert!(!is_shadowed(before, new, importer, log), "{new}");
        }
    }
}

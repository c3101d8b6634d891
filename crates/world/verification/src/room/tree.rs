//! The base tree and the new tree as directories, and the difference between them.

#![expect(clippy::disallowed_methods, reason = "the room is in the store, which no program can change")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use interlock_codemap::{ItemKind, items, new_error};
use interlock_workspace::{Moved, Workspace};
use regex::Regex;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::{
    Becomes,
    breaking::shell_functions,
    definitions::is_lock,
    files,
    kinds::{self, Part},
    names,
};

/// Both trees, in directories that no program sees.
pub(crate) struct Trees {
    /// The tree that the change began with.
    pub(crate) base: PathBuf,
    /// The tree to verify.
    pub(crate) new: PathBuf,
    /// The hashes of both, of the trees of the commit if one is to be made.
    pub(crate) hashes: [String; 2],
    /// The paths that differ.
    pub(crate) changed: Vec<Changed>,
    /// The reason why the commit cannot be made as it is.
    pub(crate) problem: Option<String>,
    /// The parent of the commit, if the run does not know it.
    pub(crate) foreign: Option<Moved>,
    _temp: TempDir,
}

/// A path that differs between the trees.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) part: Part,
    /// The path with the ending of its language, also if the name has another one or none.
    pub(crate) spoken: String,
    /// The content in the base tree; `None` if it is new.
    pub(crate) before: Option<Vec<u8>>,
    /// The content in the new tree; `None` if it was removed.
    pub(crate) after: Option<Vec<u8>>,
}

impl Trees {
    /// Writes both trees below a directory: those of the commit that the run is to make, or the stored ones. May block.
    pub(crate) fn export(
        workspace: &Workspace,
        (folder, run): (&Path, &str),
        (base, new, becomes): (&str, &str, &Becomes),
        home: &Path,
    ) -> Result<Self, String> {
        let temp = tempfile::Builder::new().prefix(super::TREES).tempdir_in(home).map_err(|error| error.to_string())?;
        let places = [temp.path().join("base"), temp.path().join("new")];
        let commit = match becomes {
            Becomes::Commit(branch) => {
                workspace.export_commit((folder, run), branch.as_deref(), (base, new), [&places[0], &places[1]])
            }
            Becomes::Workspace => Ok(None),
        };
        let problem = commit.as_ref().err().map(ToString::to_string);
        let commit = commit.ok().flatten();
        if commit.is_none() {
            for (tree, into) in [base, new].iter().zip(&places) {
                workspace.export_tree(folder, tree, into).map_err(|error| error.to_string())?;
            }
        }
        let hashes = commit.as_ref().map_or_else(|| [base.to_owned(), new.to_owned()], |commit| commit.trees.clone());
        let [base, new] = places;
        let paths: BTreeSet<String> = list(&base).into_iter().chain(list(&new)).collect();
        let mut changed: Vec<Changed> = paths.into_iter().filter_map(|path| Changed::of(path, &base, &new)).collect();
        look_behind_links(&mut changed, &new);
        look_into_data(&mut changed, &new);
        look_at_loaders(&mut changed, &new);
        let foreign = commit.and_then(|commit| commit.foreign);
        Ok(Trees { base, new, hashes, changed, problem, foreign, _temp: temp })
    }

    /// Returns true if a path is part of one of the trees.
    pub(crate) fn has(&self, path: &Path) -> bool {
        [&self.base, &self.new].iter().any(|root| fs::symlink_metadata(root.join(path)).is_ok())
    }

    /// The changed files that play one of these parts.
    pub(crate) fn with_part(&self, parts: &[Part]) -> impl Iterator<Item = &Changed> {
        self.changed.iter().filter(move |changed| parts.contains(&changed.part))
    }

    /// The changed source files that exist now and that a person or a model wrote. If a program wrote all of them, these.
    /// A text is a program's only if it was one before, and if what it is made by or from has changed, too: a turn cannot
    /// call its own work generated.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&Changed, &[u8])> {
        let there = || self.with_part(&[Part::Source]).filter_map(|one| Some((one, one.after.as_deref()?)));
        let is_only_generated = there().all(|(changed, _)| self.is_generated(changed));
        there().filter(move |(changed, _)| is_only_generated || !self.is_generated(changed))
    }

    fn is_generated(&self, changed: &Changed) -> bool {
        let was_generated = changed.before.as_deref().is_some_and(|text| kinds::is_generated(&changed.path, text));
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_maker = |other: &Changed| {
            let is_named = other.text_after().contains(&name(&changed.path));
            other.path != changed.path && (is_named || changed.text_after().contains(&name(&other.path)))
        };
        was_generated && self.changed.iter().any(is_maker)
    }

    /// The paths and contents of all files of a tree.
    pub(crate) fn contents(root: &Path) -> impl Iterator<Item = (String, Vec<u8>)> {
        list(root)
            .into_iter()
            .filter_map(|path| Some((files::content(root, &path)?, path)))
            .map(|(text, path)| (path, text))
    }

    /// All source files of a tree, changed or not.
    pub(crate) fn all_sources(root: &Path) -> Vec<(String, Vec<u8>)> {
        Self::contents(root).filter(|(path, text)| kinds::part(path, text) == Part::Source).collect()
    }

    /// The texts of all files of a tree that play a part.
    pub(crate) fn texts(root: &Path, part: Part) -> Vec<String> {
        let texts = Self::contents(root).filter(|(path, text)| kinds::part(path, text) == part);
        texts.map(|(_, text)| String::from_utf8_lossy(&text).into_owned()).collect()
    }

    /// The texts of all files of a tree whose paths a rule selects.
    pub(crate) fn all_texts(root: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let contents = list(root).into_iter().filter(|path| is_wanted(path));
        let contents = contents.filter_map(|path| files::content(root, &path));
        contents.map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
    }

    /// The tests and definitions of the new tree that a program has changed in a copy of it. Lock files are left out: tools
    /// write them anew.
    pub(crate) fn rewritten(&self, copy: &Path) -> Vec<String> {
        let checks = list(&self.new).into_iter().filter(|path| !is_lock(path));
        let checks = checks.filter_map(|path| Some((files::content(&self.new, &path)?, path)));
        let checks = checks.filter(|(text, path)| matches!(kinds::part(path, text), Part::Definition | Part::Test));
        // A copy of a program can be anything, so a file is read only if it has the same size and is no link.
        let is_same = |path: &str, text: &[u8]| {
            let about = Folder::open(copy).and_then(|copy| copy.stat(&names::path(path)));
            about.is_ok_and(|about| u64::try_from(about.st_size).is_ok_and(|size| size == text.len() as u64))
                && files::content(copy, path).as_deref() == Some(text)
        };
        checks.filter(|(text, path)| !is_same(path, text)).map(|(_, path)| path).collect()
    }

    /// The changed paths that are links now and lead out of the tree.
    pub(crate) fn links_outside(&self) -> impl Iterator<Item = String> {
        self.changed.iter().filter_map(|changed| {
            let path = names::path(&changed.path);
            let target = fs::read_link(self.new.join(&path)).ok()?;
            let folder = path.parent().unwrap_or(Path::new(""));
            let mut depth = folder.components().count();
            for part in target.components() {
                match part {
                    Component::ParentDir => match depth.checked_sub(1) {
                        Some(less) => depth = less,
                        None => return Some(changed.path.clone()),
                    },
                    Component::CurDir => {}
                    Component::Normal(_) => depth += 1,
                    Component::RootDir | Component::Prefix(_) => return Some(changed.path.clone()),
                }
            }
            None
        })
    }

    /// A hash of the new contents of some files.
    pub(crate) fn hash<'c>(changed: impl Iterator<Item = &'c Changed>) -> String {
        let mut hash = Sha256::new();
        for changed in changed {
            hash.update(changed.path.as_bytes());
            hash.update([0, u8::from(changed.after.is_some())]);
            hash.update(changed.after.as_deref().unwrap_or_default());
        }
        crate::hex(&hash.finalize())
    }
}

impl Changed {
    fn of(path: String, base: &Path, new: &Path) -> Option<Self> {
        let (before, after) = (files::content(base, &path), files::content(new, &path));
        let kind = |root: &Path| {
            let about = Folder::open(root).and_then(|root| root.stat(&names::path(&path))).ok()?;
            Some((FileType::from_raw_mode(about.st_mode), about.st_mode & 0o111))
        };
        if before == after && kind(base) == kind(new) {
            return None;
        }
        let part = kinds::part(&path, after.as_deref().or(before.as_deref()).unwrap_or_default());
        // Whoever opens a link gets what it leads to.
        let (before, after) = (behind(base, &path).or(before), behind(new, &path).or(after));
        Some(Changed { spoken: with_small_ending(&path), path, part, before, after })
    }

    /// Returns true if the new content is no text.
    pub(crate) fn is_binary(&self) -> bool {
        self.after.as_deref().is_some_and(|content| content.contains(&0) || std::str::from_utf8(content).is_err())
    }

    pub(crate) fn text_before(&self) -> String {
        String::from_utf8_lossy(self.before.as_deref().unwrap_or_default()).into_owned()
    }

    pub(crate) fn text_after(&self) -> String {
        String::from_utf8_lossy(self.after.as_deref().unwrap_or_default()).into_owned()
    }
}

/// Returns the content of the file of the tree that a link of the tree leads to.
fn behind(root: &Path, path: &str) -> Option<Vec<u8>> {
    let target = target(root, path)?;
    files::content(root, &target)
}

/// Returns the path of the file of the tree that a link of the tree leads to.
fn target(root: &Path, path: &str) -> Option<String> {
    let at = root.join(names::path(path));
    fs::symlink_metadata(&at).ok().filter(fs::Metadata::is_symlink)?;
    let (root, target) = (root.canonicalize().ok()?, at.canonicalize().ok()?);
    target.strip_prefix(root).ok().filter(|_| target.is_file()).map(names::text)
}

/// Gives a file that a link leads to the part of the link: a document behind the name of a source is a source.
fn look_behind_links(changed: &mut [Changed], new: &Path) {
    for link in list(new) {
        let Some(target) = target(new, &link) else { continue };
        let part = kinds::part(&link, b"");
        let is_more = |one: &Changed| matches!(one.part, Part::Data | Part::Document) && part != Part::Data;
        for one in changed.iter_mut().filter(|one| one.path == target && is_more(one)) {
            (one.part, one.spoken) = (part, link.clone());
        }
    }
}

/// Calls a file that has code of a language of the tree a source, whatever its name is: programs load it as such.
fn look_into_data(changed: &mut [Changed], new: &Path) {
    let is_data =
        |one: &&mut Changed| matches!(one.part, Part::Data | Part::Document) && one.after.is_some() && !one.is_binary();
    let mut waiting: Vec<&mut Changed> = changed.iter_mut().filter(is_data).collect();
    if waiting.is_empty() {
        return;
    }
    let names: BTreeSet<String> = list(new).into_iter().filter(|path| kinds::part(path, b"") == Part::Source).collect();
    let languages: BTreeSet<&str> = names.iter().filter_map(|path| Some(path.rsplit_once('.')?.1)).collect();
    for one in &mut waiting {
        let text = one.text_after();
        let is_document = one.part == Part::Document;
        let has_code = |language: &&&str| {
            let spoken = format!("code.{language}");
            // A page with examples looks much like code of a language whose macros may be anything.
            if is_document && ["c", "h", "cc", "cpp", "hpp", "sh", "bash"].contains(*language) {
                return false;
            }
            let found = match ["sh", "bash", "zsh", "ksh"].contains(*language) {
                true => !shell_functions(&text).is_empty(),
                false => items(&spoken, &text).iter().any(|item| item.kind != ItemKind::Value),
            };
            found && new_error(&spoken, b"", text.as_bytes()).is_none()
        };
        if let Some(language) = languages.iter().find(has_code) {
            (one.part, one.spoken) = (Part::Source, format!("{}.{language}", one.path));
        }
    }
}

/// Returns a path with the ending in small letters: programs load `near.JS` as `near.js`.
fn with_small_ending(path: &str) -> String {
    match path.rsplit_once('.') {
        Some((stem, ending)) if !ending.contains('/') => format!("{stem}.{}", ending.to_lowercase()),
        _ => path.to_owned(),
    }
}

/// How a language loads another file, whatever its ending is: the endings of its sources, and the statement with the path.
#[rustfmt::skip]
const LOADERS: [(&[&str], &str); 4] = [
    (&["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"], r#"(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'`]([^"'`\n]+)["'`]"#),
    (&["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "ino"], r#"#\s*include\w*\s*[<"]([^>"\n]+)"#),
    (&["sh", "bash", "zsh", "ksh"], r#"(?m)(?:^|[;&|({]|\bthen\b|\bdo\b|\belse\b)\s*(?:\.|source)\s+["']?([^\s"';&|)]+)"#),
    (&["rs"], r#"(?:\binclude!\s*\(\s*|\bpath\s*=\s*)"([^"\n]+)""#),
];

/// Gives a file with an ending of another language, or of none, the language of the source that loads it.
fn look_at_loaders(changed: &mut [Changed], new: &Path) {
    let ending = |path: &str| path.rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase();
    let is_loadable = |one: &Changed| {
        matches!(one.part, Part::Source | Part::Data | Part::Document) && one.after.is_some() && !one.is_binary()
    };
    for (endings, statement) in LOADERS {
        let waiting = changed.iter_mut().filter(|one| is_loadable(one) && !endings.contains(&&*ending(&one.spoken)));
        let waiting: Vec<&mut Changed> = waiting.collect();
        let Ok(statement) = Regex::new(statement) else { continue };
        if waiting.is_empty() {
            continue;
        }
        let loaded: BTreeSet<String> = Trees::all_texts(new, |path| endings.contains(&&*ending(path)))
            .iter()
            .flat_map(|text| statement.captures_iter(text).map(|found| found[1].to_owned()).collect::<Vec<_>>())
            .filter_map(|path| path.rsplit('/').next().map(str::to_owned))
            .collect();
        for one in waiting {
            let spoken = format!("{}.{}", one.path, endings[0]);
            let name = one.path.rsplit('/').next().unwrap_or(&one.path);
            // A tool puts pictures, styles and tables into programs, too. These are no code.
            let is_code = || endings[0] != "js" || new_error(&spoken, b"", one.text_after().as_bytes()).is_none();
            if loaded.contains(name) && is_code() {
                (one.part, one.spoken) = (Part::Source, spoken);
            }
        }
    }
}

/// Lists the files and links below a directory.
pub(crate) fn list(root: &Path) -> Vec<String> {
    let (mut found, mut waiting) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(path),
                _ => found.push(names::text(&path)),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how the change of a file is spoken, if another file of the tree loads it.
    fn spoken(path: &str, text: &str, (loader, loading): (&str, &str)) -> (Part, String) {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in [(path, text), (loader, loading)] {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let base = tempfile::tempdir().unwrap();
        let root = tree.path().canonicalize().unwrap();
        let mut changed = [Changed::of(path.to_owned(), &base.path().canonicalize().unwrap(), &root).unwrap()];
        look_into_data(&mut changed, &root);
        look_at_loaders(&mut changed, &root);
        let [one] = changed;
        (one.part, one.spoken)
    }

    #[test]
    fn a_file_is_of_the_language_that_loads_it() {
        for (path, text, loader, expected) in [
            ("src/near.kt", "check.equal = 1;\n", ("src/a.js", "require('./near.kt');\n"), "src/near.kt.js"),
            ("src/ring.kt", "#undef assert\n", ("src/ring.h", "#include \"ring.kt\"\n"), "src/ring.kt.c"),
            ("names.sql", "test() {\n    :\n}\n", ("lib.sh", ". ./names.sql\n"), "names.sql.sh"),
            ("src/near.JS", "f();\n", ("src/a.js", "require('./near.JS');\n"), "src/near.js"),
            ("src/more.txt", "fn a() {}\n", ("src/lib.rs", "include!(\"more.txt\");\n"), "src/more.txt.rs"),
        ] {
            assert_eq!(spoken(path, text, loader), (Part::Source, expected.to_owned()), "{path}");
        }
        let style = spoken("src/a.css", "a > b { color: red }\n", ("src/a.js", "import './a.css';\n"));
        assert_eq!(style, (Part::Document, "src/a.css".to_owned()));
        let query = spoken("src/a.sql", "select 1;\n", ("src/a.sh", "psql -f src/a.sql\n"));
        assert_eq!(query, (Part::Source, "src/a.sql".to_owned()));
    }
}

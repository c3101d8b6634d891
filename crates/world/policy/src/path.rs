//! The location of a path: first by its text alone, then after links are followed; both must be permitted.

use interlock_shell_effects::lexical;

use crate::View;

/// The maximum length of a path that systems accept.
const BYTES_MAX: usize = 4096;

/// A location in the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// The absolute path, without `.` and `..`.
    pub(crate) absolute: String,
    /// The path relative to the workspace, if it is inside; empty for the root itself.
    pub(crate) inside: Option<String>,
    /// The path relative to the home directory, as `~/…`, if it is inside.
    pub(crate) home: Option<String>,
    /// True if a link leads here.
    pub(crate) is_linked: bool,
}

impl Location {
    fn new(absolute: String, view: &View<'_>, is_linked: bool) -> Self {
        let inside = below(&absolute, view.root).map(str::to_owned);
        let home = view.home.and_then(|home| below(&absolute, home)).map(|rest| format!("~/{rest}"));
        Location { absolute, inside, home, is_linked }
    }

    /// Formats the place for people.
    pub(crate) fn shown(&self) -> &str {
        match &self.inside {
            Some(inside) if inside.is_empty() => ".",
            Some(inside) => inside,
            None => &self.absolute,
        }
    }

    /// Reports if the place contains the workspace.
    pub(crate) fn holds_root(&self, view: &View<'_>) -> bool {
        below(view.root, &self.absolute).is_some()
    }

    /// Reports if it belongs to git's directory, under any name that some file system accepts for `.git`.
    pub(crate) fn is_git_internal(&self) -> bool {
        self.inside.as_deref().unwrap_or(&self.absolute).split('/').any(is_git_folder)
    }
}

/// Returns the rest of a path below a directory; empty for the directory itself.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let folder = folder.trim_end_matches('/');
    let rest = path.strip_prefix(folder)?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest),
        None => rest.is_empty().then_some(""),
    }
}

/// Some systems ignore case, others ignore trailing dots, trailing spaces and stream names, and `GIT~1` is the short
/// name on the oldest ones.
fn is_git_folder(name: &str) -> bool {
    let name = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

/// Returns the places of a path: the literal one, and the one after links are followed, if it differs. An error states
/// why the path is invalid.
pub(crate) fn places(path: &str, cwd: &str, view: &View<'_>) -> Result<Vec<Location>, String> {
    check(path)?;
    let raw = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => match view.home {
            Some(home) => format!("{home}{rest}"),
            None => return Err("the home directory `~` is not known".to_owned()),
        },
        Some(_) => return Err(format!("`{path}` is in another user's home directory, or has an invalid name")),
        None if path.starts_with('/') => path.to_owned(),
        None => format!("{cwd}/{path}"),
    };
    let by_letters = Location::new(lexical(&raw), view, false);
    let linked = view.links.resolve(&raw).map(|real| lexical(&real)).filter(|real| *real != by_letters.absolute);
    let linked = linked.map(|real| Location::new(real, view, true));
    Ok(std::iter::once(by_letters).chain(linked).collect())
}

/// Rejects texts that are not paths, or that disguise their target.
fn check(path: &str) -> Result<(), String> {
    let shown: String = path.chars().take(60).flat_map(char::escape_default).collect();
    let bytes = path.as_bytes();
    if path.is_empty() {
        return Err("the path is empty".to_owned());
    }
    if bytes.len() > BYTES_MAX {
        return Err(format!("the path is longer than {BYTES_MAX} bytes: {shown}…"));
    }
    if let Some(hidden) = path.chars().find(|letter| is_deceptive(*letter)) {
        return Err(format!("the path contains U+{:04X}, which can disguise it: {shown}", u32::from(hidden)));
    }
    if path.contains('\\') && path.split(['\\', '/']).any(|part| part == ".." || is_git_folder(part)) {
        return Err(format!("the path uses backslashes to lead out of the workspace or into .git: {shown}"));
    }
    let has_drive =
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/');
    if has_drive || path.starts_with("\\\\") || path.starts_with("file:") {
        return Err(format!("the path is written for another system: {shown}"));
    }
    Ok(())
}

/// Characters that are invisible, that change the reading direction, or that look like path separators or dots.
fn is_deceptive(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{180E}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{2024}' | '\u{2025}' | '\u{2044}' | '\u{2215}' | '\u{29F8}' | '\u{FE52}' | '\u{FF0E}' | '\u{FF0F}' | '\u{FF3C}'
            | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> Result<Vec<String>, String> {
        let links = |path: &str| path.strip_prefix("/w/out").map(|rest| format!("/etc{rest}"));
        let view = View { home: Some("/home/ada"), links: &links, ..View::plain("/w") };
        Ok(places(path, "/w/src", &view)?.iter().map(|place| place.shown().to_owned()).collect())
    }

    #[test]
    fn paths_are_normalised_first() {
        let cases = [
            ("a.c", "src/a.c"),
            ("./a//b/../c", "src/a/c"),
            ("../a.c", "a.c"),
            ("..", "."),
            ("../../etc", "/etc"),
            ("/w/../w/x", "x"),
            ("/wx", "/wx"),
            ("~/x", "/home/ada/x"),
            ("/w", "."),
        ];
        for (path, expected) in cases {
            assert_eq!(shown(path).unwrap(), [expected], "{path}");
        }
        assert_eq!(shown("/w/out/shadow").unwrap(), ["out/shadow", "/etc/shadow"]);
    }

    #[test]
    fn deceptive_path_is_rejected() {
        for path in [
            "",
            "a\0b",
            "a\nb",
            "a\u{202E}b",
            ".g\u{200C}it/x",
            "..\\..\\x",
            "C:/x",
            "\\\\host\\x",
            "~root/x",
            "．．/x",
        ] {
            assert!(shown(path).is_err(), "{path:?}");
        }
        for path in ["naïve.c", "日本語/ファイル", "a b", "x~", "a:b", "back\\slash"] {
            assert!(shown(path).is_ok(), "{path:?}");
        }
    }

    #[test]
    fn git_directory_is_recognised_under_all_its_names() {
        let place = |path: &str| Location::new(format!("/w/{path}"), &View::plain("/w"), false);
        for path in
            [".git", ".GIT/config", "a/.git/hooks/x", ".git./x", ".git /x", "GIT~1/x", ".git::$INDEX_ALLOCATION/x"]
        {
            assert!(place(path).is_git_internal(), "{path}");
        }
        for path in [".gitignore", ".github/x", "git/x", "x.git/y"] {
            assert!(!place(path).is_git_internal(), "{path}");
        }
    }
}

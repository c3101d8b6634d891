//! A person's git settings as programs see them: the files themselves, or a copy without credentials.
//!
//! Git ends if it finds a settings file that it cannot read. So a file with credentials is not just hidden.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::credentials::{is_harmless, looks_like_credential, text};

/// The files in a home directory, in the order in which git reads them.
const FILES: [&str; 2] = [".config/git/config", ".gitconfig"];

/// Maximum number of settings files, with those that they include.
const FILES_MAX: usize = 32;

/// The settings that replace a person's own, because those have credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSettings {
    /// The home directory of the person. Programs with another home have their own settings.
    pub home: PathBuf,
    /// The settings without credentials.
    pub text: String,
}

/// Returns the files that programs may read, or the settings that replace them.
pub(crate) fn settings(home: &Path) -> (Vec<PathBuf>, Option<GitSettings>) {
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut open: Vec<PathBuf> = FILES.iter().map(|name| home.join(name)).rev().collect();
    while let Some(path) = open.pop().filter(|_| files.len() < FILES_MAX) {
        let Some(text) = text(&path) else { continue };
        if !files.iter().any(|(known, _)| *known == path) {
            open.extend(included(&text, &path, home));
            files.push((path, text));
        }
    }
    match files.iter().all(|(_, text)| is_harmless(text)) {
        true => (files.into_iter().map(|(path, _)| path).collect(), None),
        false => {
            let text = files.iter().map(|(_, text)| without_credentials(text)).collect();
            (Vec::new(), Some(GitSettings { home: home.to_owned(), text }))
        }
    }
}

/// Returns the files that a settings file includes under any condition.
fn included(text: &str, file: &Path, home: &Path) -> Vec<PathBuf> {
    let mut is_include = false;
    let path = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        let folder = file.parent()?;
        let path = value.strip_prefix("~/").map_or_else(|| folder.join(value), |rest| home.join(rest));
        name.trim().eq_ignore_ascii_case("path").then_some(path)
    };
    let lines = text.lines().map(str::trim).filter_map(|line| {
        is_include = if line.starts_with('[') { section(line).starts_with("include") } else { is_include };
        is_include.then(|| path(line.rsplit(']').next().unwrap_or(line))).flatten()
    });
    lines.collect()
}

/// Leaves out lines that look like credentials, sections whose heads do, and the inclusion of other files.
fn without_credentials(text: &str) -> String {
    let (mut is_left_out, mut kept) = (false, String::new());
    for line in text.lines() {
        if line.trim().starts_with('[') {
            is_left_out = section(line.trim()).starts_with("include") || looks_like_credential(line);
        }
        if !is_left_out && !looks_like_credential(line) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn section(line: &str) -> String {
    line.trim_start_matches('[').trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn settings_without_credentials_are_read_with_what_they_include() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".gitconfig"), "[user]\n\tname = Ada\n[include]\n\tpath = ~/work.inc\n").unwrap();
        fs::write(home.path().join("work.inc"), "[user]\nemail = a@b\n").unwrap();
        let (files, copy) = settings(home.path());
        assert_eq!(files, [home.path().join(".gitconfig"), home.path().join("work.inc")]);
        assert_eq!(copy, None);
    }

    #[test]
    fn settings_with_credentials_are_replaced_by_a_copy_without_them() {
        let home = tempfile::tempdir().unwrap();
        let text = "[user]\n\tname = Ada\n[include]\n\tpath = more\n[url \"https://me:secret1@example.com/\"]\n\tinsteadOf = x\n\
                    [http]\n\textraHeader = Authorization: secret2\n\tproxy = http://p\n[alias]\n\tst = status\n";
        fs::write(home.path().join(".gitconfig"), text).unwrap();
        fs::write(home.path().join("more"), "[user]\nemail = a@b\n").unwrap();
        let (files, copy) = settings(home.path());
        let expected =
            "[user]\n\tname = Ada\n[http]\n\tproxy = http://p\n[alias]\n\tst = status\n[user]\nemail = a@b\n";
        assert_eq!((files, copy.unwrap().text.as_str()), (Vec::new(), expected));
    }
}

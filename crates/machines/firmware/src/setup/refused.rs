//! Finds the operation that a sandbox refused, from the output of the program.
//!
//! The kernel does not report the refused path, so the output of the program is parsed for an error that only
//! permissions cause, together with a path outside of the sources. A path within the sources, or a text without a
//! path, may be the subject of the tests and is ignored.

use std::{
    fmt,
    path::{Component, Path, PathBuf},
};

/// Errors that a confined program gets and an unconfined one would not.
const DENIED: [&str; 6] =
    ["Permission denied", "Operation not permitted", "Read-only file system", "EACCES", "EPERM", "EROFS"];

/// The error that a program gets if a path is hidden from it.
const HIDDEN: &str = "No such file or directory";

/// Words that occur in lines about the network.
const NETWORK: [&str; 8] = ["socket", "connect", "bind(", "bind:", "getaddrinfo", "listen", "network", "resolve"];

/// The longest line that is parsed.
const LINE_BYTES_MAX: usize = 2_000;

/// A refused operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A path, with the line that reports it.
    Path(PathBuf, String),
    /// The network, with the line that reports it.
    Network(String),
}

impl Refusal {
    /// Returns the change to make in a task.
    pub(super) fn remedy(&self) -> String {
        match self {
            Refusal::Path(path, _) => {
                let folder = path.parent().unwrap_or(path).display();
                format!(
                    "let the tests write within the repository, or allow it with `test_profile.config.write: [{folder}]`"
                )
            }
            Refusal::Network(_) => "allow it with `test_profile.config.network`".to_owned(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Path(path, line) => write!(out, "{} (`{}`)", path.display(), shown(line)),
            Refusal::Network(line) => write!(out, "the network (`{}`)", shown(line)),
        }
    }
}

fn shown(line: &str) -> String {
    line.trim().chars().take(160).collect()
}

/// Returns the first refusal in a text. `folder` is the program's working directory; paths under `root` are its own.
pub(super) fn find(text: &str, folder: &Path, root: &Path) -> Option<Refusal> {
    text.lines().filter(|line| line.len() <= LINE_BYTES_MAX).find_map(|line| in_line(line, folder, root))
}

fn in_line(line: &str, folder: &Path, root: &Path) -> Option<Refusal> {
    let is_denied = DENIED.iter().any(|word| line.contains(word));
    if !is_denied && !line.contains(HIDDEN) {
        return None;
    }
    let outside = |path: &PathBuf| !path.starts_with(root) && !path.starts_with(std::env::temp_dir());
    let paths = words(line).filter(|word| is_path(word)).map(|word| plain(&folder.join(word)));
    // For "no such file", the path must exist outside the sandbox.
    let path = paths.filter(outside).find(|path| is_denied || path.exists());
    if let Some(path) = path {
        return Some(Refusal::Path(path, line.to_owned()));
    }
    let lower = line.to_ascii_lowercase();
    (is_denied && NETWORK.iter().any(|word| lower.contains(word))).then(|| Refusal::Network(line.to_owned()))
}

/// Returns the words of a line without the punctuation around paths.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| letter.is_whitespace() || "'\"`,;()[]<>=".contains(letter))
        .flat_map(|word| word.split(": "))
        .map(|word| word.trim_end_matches([':', '.']))
}

fn is_path(word: &str) -> bool {
    let is_absolute = word.starts_with('/') && word.len() > 1 && !word.starts_with("//");
    is_absolute || word.starts_with("../")
}

/// Resolves `.` and `..` in a path lexically.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<Refusal> {
        find(text, Path::new("/work/run/tree/fw"), Path::new("/work/run/tree"))
    }

    #[test]
    fn path_outside_of_the_sources_is_reported_with_its_line() {
        let of = |line: &str, path: &str| {
            assert_eq!(found(line), Some(Refusal::Path(path.into(), line.to_owned())), "{line}");
        };
        of("cannot open /var/lib/device/state.bin: Permission denied", "/var/lib/device/state.bin");
        of("sh: 3: cannot create /var/log/fw.log: Permission denied", "/var/log/fw.log");
        of("fopen('/etc/fw/key'): Operation not permitted", "/etc/fw/key");
        of("test.c:9:opens:FAIL: ../../../out/x: Read-only file system", "/work/out/x");
        of("PermissionError: [Errno 13] Permission denied: '/srv/data'", "/srv/data");
    }

    #[test]
    fn own_paths_and_texts_without_a_path_are_ignored() {
        assert_eq!(found("cannot open /work/run/tree/fw/locked: Permission denied"), None);
        assert_eq!(found("login: Permission denied"), None, "what the tests may be about");
        assert_eq!(found("/no/such/thing: No such file or directory"), None, "it is nowhere");
        assert_eq!(found("all is well with /var/lib/device"), None);
    }

    #[test]
    fn hidden_path_and_network_are_refusals() {
        assert!(matches!(found("cat: /proc/version: No such file or directory"), Some(Refusal::Path(..))));
        let network = found("socket: Operation not permitted");
        assert!(matches!(network, Some(Refusal::Network(_))), "{network:?}");
        assert!(network.is_some_and(|it| it.remedy().contains("config.network")));
    }
}

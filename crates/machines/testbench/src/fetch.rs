//! Fetches files and command output from an environment after its tests.

use interlock_beneath::{FileType, Folder, whole};
use std::{
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use crate::{FetchedFile, Session, Trouble};

/// The largest number of fetched files.
const FILES_MAX: usize = 10_000;

/// A file or command output to fetch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) enum Wanted {
    /// A remote file, or a pattern if the remote side supports patterns.
    Path(String),
    /// The output of a command.
    Command {
        /// The name of the file for the output.
        name: String,
        /// The command that prints the content.
        command: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    name: String,
    command: String,
}

impl TryFrom<Value> for Wanted {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(path) if path.is_empty() => Err("an empty path".to_owned()),
            Value::String(path) => Ok(Wanted::Path(path)),
            other => {
                let Form { name, command } = serde_json::from_value(other)
                    .map_err(|error| format!("a path, or `name` and `command`, must be given: {error}"))?;
                match name.is_empty() || name.contains(['/', '\0']) || name.starts_with('.') {
                    true => Err(format!("`{name}` is not a file name")),
                    false => Ok(Wanted::Command { name, command }),
                }
            }
        }
    }
}

/// Empties a directory of the session, so that it only contains newly fetched files afterwards.
pub(crate) fn fresh(session: &Session, name: &str) -> io::Result<PathBuf> {
    let folder = session.folder.join(name);
    whole::empty(&folder)?;
    Ok(folder)
}

/// Returns every file below a directory, sorted by name.
pub(crate) fn kept(folder: &Path) -> Result<Vec<FetchedFile>, Trouble> {
    let mut all: Vec<FetchedFile> = files(folder)?
        .into_iter()
        .map(|name| FetchedFile {
            media_type: media_type(&name).to_owned(),
            path: folder.join(&name),
            name: name.to_string_lossy().into_owned(),
        })
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

/// Returns the relative path of every file below a directory. Symbolic links are left out, because they may point
/// anywhere.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let all = Folder::open(folder)?.list(Path::new(""), FILES_MAX, |_| true);
    let all = all.map_err(|error| match error {
        interlock_beneath::Error::TooMany { .. } => {
            Trouble::environment(format!("more than {FILES_MAX} files were fetched"))
        }
        other => other.into(),
    })?;
    let files = all.into_iter().filter(|entry| entry.kind == FileType::RegularFile);
    let mut found: Vec<PathBuf> = files.map(|entry| entry.path).collect();
    found.sort();
    Ok(found)
}

fn media_type(path: &Path) -> &'static str {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "log" | "txt" | "out" | "csv" | "tap" | "md" => "text/plain",
        "xml" => "application/xml",
        "json" => "application/json",
        "html" | "htm" => "text/html",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use std::fs;

    use super::*;

    #[test]
    fn wanted_is_a_path_or_a_command() {
        let read = |value: Value| serde_json::from_value::<Wanted>(value);
        assert_eq!(read(json!("/var/log/x")).unwrap(), Wanted::Path("/var/log/x".into()));
        let command = Wanted::Command { name: "dmesg.log".into(), command: "dmesg".into() };
        assert_eq!(read(json!({ "name": "dmesg.log", "command": "dmesg" })).unwrap(), command);
        for wrong in [json!(""), json!(3), json!({ "name": "../x", "command": "id" }), json!({ "command": "id" })] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_are_found_recursively_and_links_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("b/c")).unwrap();
        fs::write(folder.path().join("b/c/r.XML"), "").unwrap();
        fs::write(folder.path().join("a.log"), "").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
        let found: Vec<_> = kept(folder.path()).unwrap().into_iter().map(|it| (it.name, it.media_type)).collect();
        let expected = [("a.log", "text/plain"), ("b/c/r.XML", "application/xml")];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
    }
}

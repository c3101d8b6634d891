//! The lists of bugs: reading them, and inserting a bug into a text.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

/// The list of bugs to read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    /// The bugs that were known when the templates were written.
    First,
    /// The bugs that were written after the templates were finished.
    Fresh,
}

#[derive(Deserialize)]
struct Read {
    fix: Option<Change>,
    #[serde(default)]
    bug: Vec<Bug>,
}

/// A replacement of one text by another.
#[derive(Clone, Deserialize)]
pub(crate) struct Change {
    pub(crate) file: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// One bug of a list.
#[derive(Clone, Deserialize)]
pub(crate) struct Bug {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) firmware: String,
    #[serde(flatten)]
    pub(crate) change: Change,
    /// The fix of the bug that the sample is shipped with. It is applied first.
    #[serde(skip)]
    pub(crate) fix: Option<Change>,
}

/// Reads the bugs of one list, in the order of firmwares and files.
pub(crate) fn read(firmwares: &Path, list: List) -> io::Result<Vec<Bug>> {
    let mut all = Vec::new();
    for firmware in ["parser", "ring", "scheduler"] {
        let first = file(&firmwares.join(format!("bugs/{firmware}.toml")))?;
        let read = match list {
            List::First => first.bug,
            List::Fresh => file(&firmwares.join("bugs/fresh.toml"))?.bug,
        };
        let of_this = |bug: &Bug| bug.firmware.is_empty() || bug.firmware == firmware;
        let told = |bug: Bug| Bug { firmware: firmware.to_owned(), fix: first.fix.clone(), ..bug };
        all.extend(read.into_iter().filter(of_this).map(told));
    }
    Ok(all)
}

fn file(path: &Path) -> io::Result<Read> {
    toml::from_str(&fs::read_to_string(path)?).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}

impl Change {
    /// Replaces `before` with `after`. `before` must occur exactly once.
    pub(crate) fn make(&self, folder: &Path) -> io::Result<()> {
        let path = folder.join(&self.file);
        let text = fs::read_to_string(&path)?;
        let times = text.matches(&self.before).count();
        if times != 1 {
            return Err(io::Error::other(format!("{}: `{}` is there {times} times", self.file, self.before)));
        }
        fs::write(&path, text.replace(&self.before, &self.after))
    }
}

//! The ways back from results that were applied: one file per run in the store, read by `interlock undo`.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{fs, io, path::PathBuf};

use interlock_workspace::Unapply;

use crate::{failure::Failure, store::Store};

/// The ways back of a run, oldest first.
#[derive(Debug)]
pub(crate) struct Ways {
    path: PathBuf,
    list: Vec<Unapply>,
}

impl Ways {
    /// Reads the ways back of a run.
    pub(crate) fn of(store: &Store, run: &str) -> Result<Self, Failure> {
        let path = store.home.join("applied").join(format!("{run}.json"));
        let list = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Failure::file("read", &path, &error)),
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?,
        };
        Ok(Ways { path, list })
    }

    /// Returns true if nothing is applied.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a way back.
    pub(crate) fn add(&mut self, way: Unapply) {
        self.list.push(way);
    }

    /// Finds out if the newest result can be taken out of the checkout.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.list.last().map_or(Ok(()), |way| way.run(true)).map_err(|error| error.to_string())
    }

    /// Takes all results out of the checkout, the newest first. Returns the checkouts.
    pub(crate) fn go_back(&mut self) -> Result<Vec<PathBuf>, Failure> {
        let mut places = Vec::new();
        while let Some(way) = self.list.last() {
            way.run(false).map_err(|error| Failure::failed(error.to_string()))?;
            places.extend(self.list.pop().map(|way| way.checkout));
            self.save()?;
        }
        places.dedup();
        Ok(places)
    }

    /// Writes the file.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::file("write", &self.path, &error);
        let Some(folder) = self.path.parent() else { return Ok(()) };
        fs::create_dir_all(folder).map_err(failed)?;
        let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        serde_json::to_writer(&file, &self.list).map_err(|error| failed(error.into()))?;
        file.as_file().sync_data().map_err(failed)?;
        file.persist(&self.path).map(drop).map_err(|error| failed(error.error))
    }
}

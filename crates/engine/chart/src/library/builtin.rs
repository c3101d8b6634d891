//! The machines in the binary: every file under `machines/` at build time.

use super::{MACHINE_FILE, Origin, Source, folder};
use std::path::PathBuf;

/// The path below `machines/` and the content of each file, ordered by path.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/machines.rs"));

/// Returns the names of the built-in machines, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED
        .iter()
        .filter_map(|(path, _)| path.split_once('/'))
        .filter(|(_, file)| *file == MACHINE_FILE)
        .map(|(name, _)| name)
}

/// Returns all files of a built-in machine, including `machine.yaml` and `README.md`, by path within its directory.
pub fn files(name: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let of_machine = move |path: &'static str| path.strip_prefix(name)?.strip_prefix('/');
    EMBEDDED.iter().filter_map(move |(path, content)| of_machine(path).map(|path| (path, *content)))
}

/// Returns the path of a built-in machine in the repository.
pub(super) fn path(name: &str) -> PathBuf {
    ["machines", name, MACHINE_FILE].iter().collect()
}

pub(super) fn load(name: &str) -> Option<Source> {
    let bytes = files(name).find(|(path, _)| *path == MACHINE_FILE)?.1.to_vec();
    let parts = files(name).filter(|(path, _)| folder::is_part(path));
    let parts = parts.map(|(path, content)| (path.to_owned(), content.to_vec())).collect();
    Some(Source::new(name.to_owned(), Origin::BuiltIn, path(name), bytes, parts))
}

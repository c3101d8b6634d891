//! The result of removing evidence that no record refers to.

/// The result of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Collected {
    /// Contents kept.
    pub kept: u64,
    /// Contents removed, or, in a dry run, to be removed.
    pub removed: u64,
    /// The bytes they took on the disk.
    pub bytes: u64,
}

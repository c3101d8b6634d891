//! The result of removing evidence that no record refers to.

/// The result of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Collected {
    /// The number of contents that were kept.
    pub kept: u64,
    /// The number of contents that were removed or, in a dry run, would be removed.
    pub removed: u64,
    /// The bytes that the removed contents took on the disk.
    pub bytes: u64,
}

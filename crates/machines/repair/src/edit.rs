//! Edits of a text: byte ranges and their replacements.

/// One replacement in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edit {
    /// The first byte that is replaced.
    pub start: usize,
    /// The first byte after the replaced range. It equals `start` for an insertion.
    pub end: usize,
    /// The text that replaces the range.
    pub text: String,
}

impl Edit {
    /// Returns true if both edits change the same bytes or insert at the same position.
    pub fn overlaps(&self, other: &Edit) -> bool {
        self.start == other.start || (self.start < other.end && other.start < self.end)
    }
}

/// Returns the text with all edits applied, or `None` if they overlap or do not lie on character boundaries.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort();
    let mut result = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in sorted {
        if edit.start < at || edit.end < edit.start {
            return None;
        }
        result.push_str(text.get(at..edit.start)?);
        result.push_str(&edit.text);
        at = edit.end;
    }
    result.push_str(text.get(at..)?);
    Some(result)
}

//! A change of a text: byte ranges and what takes their place.

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edit {
    /// First byte that is replaced.
    pub start: usize,
    /// First byte behind what is replaced; `start` where something is only put in.
    pub end: usize,
    /// What takes its place.
    pub text: String,
}

impl Edit {
    /// Whether the two change the same bytes, or put something in at the same place.
    pub fn overlaps(&self, other: &Edit) -> bool {
        self.start == other.start || (self.start < other.end && other.start < self.end)
    }
}

/// The text with all edits done. `None` where they overlap or do not lie on the text's characters.
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

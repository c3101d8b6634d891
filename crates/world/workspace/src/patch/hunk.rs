//! The hunk: one changed section of a file.

/// One changed section of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The line number in the patch at which the hunk begins, from 1.
    pub patch_line: usize,
    /// The stated line number in the file, from 1. It is 0 for a hunk before the first line.
    pub start: Option<usize>,
    /// Lines that occur somewhere before the hunk, outermost first.
    pub anchors: Vec<Vec<u8>>,
    /// The lines of the hunk: context, removed and added.
    pub lines: Vec<HunkLine>,
    /// True if the patch states that the hunk ends at the end of the file.
    pub is_at_end: bool,
}

/// One line of a hunk, with its sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// The sign of the line.
    pub sign: Sign,
    /// The text without the line feed.
    pub text: Vec<u8>,
    /// True if a line feed follows. It can be missing after the last line of a file.
    pub has_newline: bool,
}

/// The kind of a line in a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A context line, which stays unchanged.
    Keep,
    /// A line that is removed.
    Remove,
    /// A line that is added.
    Add,
}

impl Hunk {
    /// Returns the lines that the file must contain.
    pub fn old(&self) -> Vec<&HunkLine> {
        self.lines.iter().filter(|line| line.sign != Sign::Add).collect()
    }

    /// Returns the lines that replace them.
    pub fn new_lines(&self) -> Vec<&HunkLine> {
        self.lines.iter().filter(|line| line.sign != Sign::Remove).collect()
    }

    /// Returns true if context lines follow the last change.
    pub(crate) fn has_trailing_context(&self) -> bool {
        self.lines.last().is_some_and(|line| line.sign == Sign::Keep)
    }
}

impl Sign {
    /// Returns the sign for the first character of a line.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            b' ' => Some(Sign::Keep),
            b'-' => Some(Sign::Remove),
            b'+' => Some(Sign::Add),
            _ => None,
        }
    }
}

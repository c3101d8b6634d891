//! One place of a file that changes.

/// One place of a file that changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The line of the patch that it begins at, from 1.
    pub patch_line: usize,
    /// The line of the file that it is said to begin at, from 1; 0 where it is said to be before the first.
    pub start: Option<usize>,
    /// Lines that come somewhere before it, outermost first.
    pub anchors: Vec<Vec<u8>>,
    /// What stays, goes and comes.
    pub lines: Vec<HunkLine>,
    /// Whether it is said to reach to the end of the file.
    pub is_at_end: bool,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// What becomes of it.
    pub sign: Sign,
    /// Without the line feed.
    pub text: Vec<u8>,
    /// Whether a line feed follows; not for the last line of some files.
    pub has_newline: bool,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
    /// It comes.
    Add,
}

impl Hunk {
    /// The lines that must be there.
    pub fn old(&self) -> Vec<&HunkLine> {
        self.lines.iter().filter(|line| line.sign != Sign::Add).collect()
    }

    /// The lines that are there afterwards.
    pub fn new_lines(&self) -> Vec<&HunkLine> {
        self.lines.iter().filter(|line| line.sign != Sign::Remove).collect()
    }

    /// Whether lines that stay follow the last change.
    pub(crate) fn has_trailing_context(&self) -> bool {
        self.lines.last().is_some_and(|line| line.sign == Sign::Keep)
    }
}

impl Sign {
    /// From the first character of a line.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            b' ' => Some(Sign::Keep),
            b'-' => Some(Sign::Remove),
            b'+' => Some(Sign::Add),
            _ => None,
        }
    }
}

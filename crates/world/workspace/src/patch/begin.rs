//! Parses the format that begins with `*** Begin Patch`. It has no line numbers; hunks are located by their text.

use std::path::PathBuf;

use super::{FilePatch, Hunk, HunkLine, Kind, Patch, Problem, Sign, path, text::trimmed_end};

const BEGIN: &[u8] = b"*** Begin Patch";
const END: &[u8] = b"*** End Patch";
const END_OF_FILE: &[u8] = b"*** End of File";
const MOVE: &[u8] = b"*** Move to: ";

/// Returns the index of the first line if the patch has this format, that is, if no line of a unified diff precedes it.
pub(super) fn starts_at(lines: &[&[u8]]) -> Option<usize> {
    let at = lines.iter().position(|line| trimmed_end(line) == BEGIN)?;
    let is_diff = |line: &&[u8]| line.starts_with(b"diff --git ") || line.starts_with(b"@@ -");
    (!lines[..at].iter().any(is_diff)).then_some(at)
}

pub(super) fn read(lines: &[&[u8]], begin: usize) -> Result<Patch, Problem> {
    let mut reader = Reader { lines, at: begin + 1 };
    let mut files = Vec::new();
    loop {
        let Some(line) = reader.peek() else {
            return Err(Problem::syntax(lines.len(), "the patch ends without `*** End Patch`"));
        };
        match trimmed_end(line) {
            END => return Ok(Patch { files }),
            b"" => reader.at += 1,
            _ => files.push(reader.file()?),
        }
    }
}

struct Reader<'t> {
    lines: &'t [&'t [u8]],
    at: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t [u8]> {
        self.lines.get(self.at).copied()
    }

    fn wrong<T>(&self, why: &str) -> Result<T, Problem> {
        Err(Problem::syntax(self.at + 1, why))
    }

    fn file(&mut self) -> Result<FilePatch, Problem> {
        let line = self.peek().unwrap_or_default();
        let after = |mark: &[u8]| line.strip_prefix(mark).map(trimmed_end);
        let file = |old: Option<PathBuf>, new: Option<PathBuf>| FilePatch {
            old,
            new,
            old_kind: None,
            new_kind: None,
            is_copy: false,
            hunks: Vec::new(),
        };
        if let Some(name) = after(b"*** Add File: ") {
            self.at += 1;
            let hunks = self.added()?;
            return Ok(FilePatch { hunks, new_kind: Some(Kind::File), ..file(None, Some(checked(name)?)) });
        }
        if let Some(name) = after(b"*** Delete File: ") {
            self.at += 1;
            return Ok(file(Some(checked(name)?), None));
        }
        let Some(name) = after(b"*** Update File: ") else {
            return self
                .wrong("`*** Add File: `, `*** Update File: ` or `*** Delete File: ` and a path should be here");
        };
        self.at += 1;
        let old = checked(name)?;
        let mut new = old.clone();
        if let Some(name) = self.peek().and_then(|line| line.strip_prefix(MOVE)) {
            new = checked(trimmed_end(name))?;
            self.at += 1;
        }
        let hunks = self.hunks()?;
        if hunks.is_empty() && old == new {
            return self.wrong("the update of the file contains no change");
        }
        Ok(FilePatch { hunks, ..file(Some(old), Some(new)) })
    }

    /// Parses the content of a new file.
    fn added(&mut self) -> Result<Vec<Hunk>, Problem> {
        let mut hunk = Hunk { patch_line: self.at + 1, start: Some(0), ..Hunk::default() };
        while let Some(text) = self.peek().and_then(|line| line.strip_prefix(b"+")) {
            hunk.lines.push(HunkLine { sign: Sign::Add, text: text.to_vec(), has_newline: true });
            self.at += 1;
        }
        match self.peek() {
            Some(line) if !line.starts_with(b"***") && !trimmed_end(line).is_empty() => {
                self.wrong("every line of a new file begins with `+`")
            }
            _ if hunk.lines.is_empty() => Ok(Vec::new()),
            _ => Ok(vec![hunk]),
        }
    }

    fn hunks(&mut self) -> Result<Vec<Hunk>, Problem> {
        let mut hunks = Vec::new();
        while let Some(line) = self.peek() {
            if line.starts_with(b"***") && trimmed_end(line) != END_OF_FILE {
                break;
            }
            hunks.push(self.hunk()?);
        }
        // A blank line before the next file is not a hunk.
        hunks.retain(|hunk: &Hunk| hunk.lines.iter().any(|line| line.sign != Sign::Keep));
        Ok(hunks)
    }

    fn hunk(&mut self) -> Result<Hunk, Problem> {
        let mut hunk = Hunk { patch_line: self.at + 1, ..Hunk::default() };
        while let Some(anchor) = self.peek().and_then(|line| line.strip_prefix(b"@@")) {
            let anchor = trimmed_end(anchor.strip_prefix(b" ").unwrap_or(anchor));
            let anchor = trimmed_end(anchor.strip_suffix(b"@@").unwrap_or(anchor));
            if !anchor.is_empty() {
                hunk.anchors.push(anchor.to_vec());
            }
            self.at += 1;
        }
        while let Some(line) = self.peek() {
            let (sign, text) = match line.split_first() {
                None => (Sign::Keep, &b""[..]),
                Some((b'@', _)) | Some((b'*', _)) => break,
                Some((first, text)) => match Sign::from_byte(*first) {
                    Some(sign) => (sign, text),
                    None => return self.wrong("a line begins with ` `, `+`, `-`, `@@` or `***`"),
                },
            };
            hunk.lines.push(HunkLine { sign, text: text.to_vec(), has_newline: true });
            self.at += 1;
        }
        if self.peek().map(trimmed_end) == Some(END_OF_FILE) {
            hunk.is_at_end = true;
            self.at += 1;
        }
        Ok(hunk)
    }
}

fn checked(name: &[u8]) -> Result<PathBuf, Problem> {
    path::check(name).map_err(|why| Problem::path(name, why))
}

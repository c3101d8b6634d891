//! Parses unified diffs, with or without git's header lines. The counts in hunk headers must be correct, because they
//! distinguish a complete patch from a truncated one.

use super::{
    FilePatch, Hunk, HunkLine, Patch, Problem, Sign,
    git_header::{Header, side},
};

pub(super) fn read(lines: &[&[u8]]) -> Result<Patch, Problem> {
    let mut reader = Reader { lines, at: 0 };
    let mut files = Vec::new();
    while let Some(line) = reader.peek() {
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            reader.at += 1;
            files.push(reader.git_file(Header::git(names))?);
        } else if line.starts_with(b"--- ") && reader.next_starts(b"+++ ") {
            files.push(reader.file(Header::default())?);
        } else {
            reader.check_stray(line)?;
            reader.at += 1;
        }
    }
    Ok(Patch { files })
}

struct Reader<'t> {
    lines: &'t [&'t [u8]],
    at: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t [u8]> {
        self.lines.get(self.at).copied()
    }

    fn next_starts(&self, with: &[u8]) -> bool {
        self.lines.get(self.at + 1).is_some_and(|line| line.starts_with(with))
    }

    fn wrong<T>(&self, why: impl Into<String>) -> Result<T, Problem> {
        Err(Problem::syntax(self.at + 1, why))
    }

    /// Accepts text around a patch, but rejects lines that look like part of one.
    fn check_stray(&self, line: &[u8]) -> Result<(), Problem> {
        match () {
            () if line.starts_with(b"@@ -") => self.wrong("a hunk comes before any file"),
            () if line.starts_with(b"diff --cc ")
                || line.starts_with(b"diff --combined ")
                || line.starts_with(b"@@@ ") =>
            {
                self.wrong("a combined diff of a merge cannot be applied")
            }
            () => Ok(()),
        }
    }

    fn git_file(&mut self, mut header: Header) -> Result<FilePatch, Problem> {
        while let Some(line) = self.peek() {
            if line.starts_with(b"GIT binary patch") || line.starts_with(b"Binary files ") {
                return self
                    .wrong("it changes a binary file, but only text can be patched; use a command to write that file");
            }
            if line.starts_with(b"--- ") && self.next_starts(b"+++ ") {
                return self.file(header);
            }
            if !header.take(line, self.at + 1)? {
                break;
            }
            self.at += 1;
        }
        header.file(self.at)
    }

    /// Parses a file from its `---` line on.
    fn file(&mut self, mut header: Header) -> Result<FilePatch, Problem> {
        let names = (self.lines[self.at], self.lines[self.at + 1]);
        header.sides = Some((side(&names.0[4..]), side(&names.1[4..])));
        self.at += 2;
        let mut file = header.file(self.at)?;
        while self.peek().is_some_and(|line| line.starts_with(b"@@")) {
            file.hunks.push(self.hunk()?);
        }
        if file.hunks.is_empty() {
            return self.wrong("a hunk should follow the names of the file");
        }
        Ok(file)
    }

    fn hunk(&mut self) -> Result<Hunk, Problem> {
        let header = self.peek().unwrap_or_default();
        if header.starts_with(b"@@@") {
            return self.wrong("a combined diff of a merge cannot be applied");
        }
        let Some(Ranges { start, mut old, mut new }) = ranges(header) else {
            return self.wrong("a hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`");
        };
        let mut hunk = Hunk { patch_line: self.at + 1, start: Some(start), ..Hunk::default() };
        let stated = (old, new);
        self.at += 1;
        while old > 0 || new > 0 {
            let line = self.hunk_line(stated)?;
            let (takes_old, takes_new) = (line.sign != Sign::Add, line.sign != Sign::Remove);
            if (takes_old && old == 0) || (takes_new && new == 0) {
                return self.miscounted(stated, "more");
            }
            (old, new) = (old - usize::from(takes_old), new - usize::from(takes_new));
            hunk.lines.push(line);
            self.at += 1;
            self.no_newline(&mut hunk);
        }
        self.check_end(stated)?;
        Ok(hunk)
    }

    fn hunk_line(&self, stated: (usize, usize)) -> Result<HunkLine, Problem> {
        let Some(line) = self.peek() else {
            return self.miscounted(stated, "fewer");
        };
        // Some programs strip the single space of an empty context line.
        let (first, text) = line.split_first().unwrap_or((&b' ', b""));
        let sign = match Sign::from_byte(*first) {
            Some(sign) => sign,
            None => return self.miscounted(stated, "fewer"),
        };
        Ok(HunkLine { sign, text: text.to_vec(), has_newline: true })
    }

    fn no_newline(&mut self, hunk: &mut Hunk) {
        if self.peek().is_some_and(|line| line.starts_with(b"\\ ")) {
            hunk.lines.last_mut().into_iter().for_each(|line| line.has_newline = false);
            self.at += 1;
        }
    }

    /// Checks that the line after a hunk does not look like another line of it.
    fn check_end(&self, stated: (usize, usize)) -> Result<(), Problem> {
        let Some(line) = self.peek() else { return Ok(()) };
        let is_header = line.starts_with(b"--- ") && self.next_starts(b"+++ ");
        let is_signature = line == b"-- ";
        match line.first() {
            Some(b'+' | b'-' | b' ') if !is_header && !is_signature && !line.trim_ascii().is_empty() => {
                self.miscounted(stated, "more")
            }
            _ => Ok(()),
        }
    }

    fn miscounted<T>(&self, (old, new): (usize, usize), how: &str) -> Result<T, Problem> {
        self.wrong(format!(
            "the hunk has {how} lines than its header says ({old} before, {new} after); was it cut off?"
        ))
    }
}

struct Ranges {
    start: usize,
    old: usize,
    new: usize,
}

/// Parses `@@ -START,COUNT +START,COUNT @@`.
fn ranges(header: &[u8]) -> Option<Ranges> {
    let header = std::str::from_utf8(header.get(..header.len().min(120))?).or_else(|error| {
        // The text after the second `@@` is from the file and can have any encoding.
        std::str::from_utf8(&header[..error.valid_up_to()])
    });
    let rest = header.ok()?.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse::<u32>().ok()? as usize, count.parse::<u32>().ok()? as usize))
    };
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    Some(Ranges { start, old, new })
}

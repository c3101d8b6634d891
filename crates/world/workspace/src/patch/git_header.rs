//! Parses the lines that git writes before the hunks of a file, and file names in git's quoting.

use std::path::PathBuf;

use super::{FilePatch, Kind, Problem, path};

/// Prefixes that mark the sides of a diff. Git uses one pair for each kind of comparison.
const PREFIXES: [&[u8]; 8] = [b"a/", b"b/", b"i/", b"w/", b"c/", b"o/", b"1/", b"2/"];

/// The file name that stands for "no file".
const NOTHING: &[u8] = b"/dev/null";

/// The old and the new name of a file, with `None` for a side without a file.
type Sides = (Option<Vec<u8>>, Option<Vec<u8>>);

/// The header of a file, which comes before its hunks.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// The name from `diff --git`, if both sides have the same.
    both: Option<Vec<u8>>,
    /// The names from `---` and `+++`.
    pub(super) sides: Option<(Vec<u8>, Vec<u8>)>,
    /// The source name from `rename from` or `copy from`.
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    is_copy: bool,
    is_new: bool,
    is_deleted: bool,
    old_kind: Option<Kind>,
    new_kind: Option<Kind>,
}

impl Header {
    /// Parses the names after `diff --git `.
    pub(super) fn git(names: &[u8]) -> Self {
        Header { both: same_name(names), ..Header::default() }
    }

    /// Parses one line. Returns true if it is a header line of git.
    pub(super) fn take(&mut self, line: &[u8], number: usize) -> Result<bool, Problem> {
        let after = |mark: &str| line.strip_prefix(mark.as_bytes());
        let kind = |mode: &[u8]| read_kind(mode, number);
        if let Some(mode) = after("old mode ") {
            self.old_kind = Some(kind(mode)?);
        } else if let Some(mode) = after("new mode ") {
            self.new_kind = Some(kind(mode)?);
        } else if let Some(mode) = after("deleted file mode ") {
            (self.is_deleted, self.old_kind) = (true, Some(kind(mode)?));
        } else if let Some(mode) = after("new file mode ") {
            (self.is_new, self.new_kind) = (true, Some(kind(mode)?));
        } else if let Some(name) = after("rename from ") {
            self.from = Some(unquoted(name));
        } else if let Some(name) = after("rename to ") {
            self.to = Some(unquoted(name));
        } else if let Some(name) = after("copy from ") {
            (self.is_copy, self.from) = (true, Some(unquoted(name)));
        } else if let Some(name) = after("copy to ") {
            self.to = Some(unquoted(name));
        } else if let Some(hashes) = after("index ") {
            let mode = hashes.split(|byte| *byte == b' ').nth(1);
            if let Some(mode) = mode {
                self.old_kind = Some(kind(mode)?);
            }
        } else {
            return Ok(after("similarity index ").or(after("dissimilarity index ")).is_some());
        }
        Ok(true)
    }

    /// Returns the file patch for this header, without hunks.
    pub(super) fn file(self, number: usize) -> Result<FilePatch, Problem> {
        let (old, new) = self.names().ok_or_else(|| Problem::syntax(number, "it does not name a file"))?;
        let checked = |name: Option<Vec<u8>>| {
            name.map(|name| path::check(&name).map_err(|why| Problem::path(&name, why))).transpose()
        };
        let (old, new): (Option<PathBuf>, Option<PathBuf>) = (checked(old)?, checked(new)?);
        if old.is_none() && new.is_none() {
            return Err(Problem::syntax(number, "it names no file on either side"));
        }
        let Header { old_kind, new_kind, is_copy, .. } = self;
        Ok(FilePatch { old, new, old_kind, new_kind, is_copy, hunks: Vec::new() })
    }

    fn names(&self) -> Option<Sides> {
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            return Some((Some(from.clone()), Some(to.clone())));
        }
        let (old, new) = match &self.sides {
            Some((old, new)) => without_prefixes(old, new),
            None => (self.both.clone(), self.both.clone()),
        };
        // Git omits `---` and `+++` for an empty file. They name only one side if the file is created or deleted.
        let (old, new) = (old.filter(|_| !self.is_new), new.filter(|_| !self.is_deleted));
        (self.sides.is_some() || old.is_some() || new.is_some()).then_some((old, new))
    }
}

fn read_kind(mode: &[u8], number: usize) -> Result<Kind, Problem> {
    match std::str::from_utf8(mode.trim_ascii()).ok().and_then(Kind::from_mode) {
        Some(Kind::Repository) => {
            Err(Problem::syntax(number, "it changes a nested repository, which is not supported"))
        }
        Some(kind) => Ok(kind),
        None => Err(Problem::syntax(number, format!("`{}` is not a file mode", String::from_utf8_lossy(mode)))),
    }
}

/// Returns the common name in `a/NAME b/NAME`. Returns `None` if the names differ; then other header lines contain
/// them.
fn same_name(names: &[u8]) -> Option<Vec<u8>> {
    let (old, new) = if names.starts_with(b"\"") {
        let end = quoted_end(names)?;
        (unquoted(&names[..end]), unquoted(names.get(end + 1..)?))
    } else {
        let middle = names.len().checked_sub(1)? / 2;
        if names.get(middle) != Some(&b' ') {
            return None;
        }
        (names[..middle].to_vec(), names[middle + 1..].to_vec())
    };
    let (old, new) = without_prefixes(&old, &new);
    old.filter(|old| new.as_ref() == Some(old))
}

/// Returns the name after `--- ` or `+++ `. A tab and a time may follow it.
pub(super) fn side(name: &[u8]) -> Vec<u8> {
    match name.starts_with(b"\"") {
        true => unquoted(name),
        false => name.split(|byte| *byte == b'\t').next().unwrap_or_default().trim_ascii_end().to_vec(),
    }
}

/// Returns both names as paths, with `None` for a side without a file.
fn without_prefixes(old: &[u8], new: &[u8]) -> Sides {
    let prefix = |name: &[u8]| PREFIXES.iter().find(|prefix| name.starts_with(prefix)).copied();
    let (is_old, is_new) = (old != NOTHING, new != NOTHING);
    let cut = match (prefix(old), prefix(new)) {
        (Some(one), Some(other)) => one != other,
        (Some(_), None) => !is_new,
        (None, Some(_)) => !is_old,
        (None, None) => false,
    };
    let rest = |name: &[u8]| if cut { name[2..].to_vec() } else { name.to_vec() };
    (is_old.then(|| rest(old)), is_new.then(|| rest(new)))
}

/// Returns the index after the closing quote.
fn quoted_end(name: &[u8]) -> Option<usize> {
    let mut at = 1;
    while at < name.len() {
        match name[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Decodes a name that git may have put in quotes, with escape sequences for special characters.
fn unquoted(name: &[u8]) -> Vec<u8> {
    let end = if name.starts_with(b"\"") { quoted_end(name) } else { None };
    let Some(inside) = end.and_then(|end| name.get(1..end - 1)) else { return name.to_vec() };
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(byte) = inside.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let (meant, length) = escape(&inside[at..]);
        out.push(meant);
        at += length;
    }
    out
}

/// Decodes the escape sequence after a backslash. Returns its byte and its length.
fn escape(rest: &[u8]) -> (u8, usize) {
    let octal = rest.get(..3).filter(|digits| digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
    if let Some(digits) = octal {
        let value = digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
        return (value as u8, 3);
    }
    let meant = match rest.first() {
        Some(b'a') => 7,
        Some(b'b') => 8,
        Some(b't') => b'\t',
        Some(b'n') => b'\n',
        Some(b'v') => 11,
        Some(b'f') => 12,
        Some(b'r') => b'\r',
        Some(other) => *other,
        None => b'\\',
    };
    (meant, rest.len().min(1))
}

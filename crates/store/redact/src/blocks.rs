//! Private keys in blocks of lines: everything from `-----BEGIN … PRIVATE KEY-----` to its end, regardless of
//! indentation and quoting.

/// The maximum number of lines of a block; a longer one is not a key.
const LINES_MAX: usize = 500;

/// The maximum length of a block on one line.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// The position of a scan relative to blocks: the state that a stream keeps between pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Within(Option<usize>);

impl Within {
    /// Reports if the text begins within a block.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn open(&mut self) {
        self.0 = Some(0);
    }

    /// Skips lines of a block. Returns the number of bytes of `text` that belong to it, and true if a line end must be
    /// inserted because the next text begins a line.
    pub(crate) fn pass(&mut self, text: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let (Some(lines), true) = (self.0, at < text.len()) {
            let end = text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |found| at + found + 1);
            let line = &text[at..end];
            if let Some(ending) = end_of(line) {
                self.0 = None;
                return (at + ending, false);
            }
            if lines >= LINES_MAX || !is_body(line) {
                self.0 = None;
                return (at, true);
            }
            self.0 = Some(lines + 1);
            at = end;
        }
        (at, false)
    }
}

/// Returns the end of the first line's marker if a block with a private key begins at `at`.
pub(crate) fn begins(text: &[u8], at: usize) -> Option<usize> {
    let line = &text[at..text.len().min(at + 80)];
    let name_end = line.get(11..)?.windows(5).position(|dashes| dashes == b"-----")? + 11;
    let name = &line[..name_end];
    let is_private = name.windows(11).any(|word| word == b"PRIVATE KEY") && !name.contains(&b'\n');
    is_private.then_some(at + name_end + 5)
}

/// Returns the end of a block on one line, whose line ends are written as `\n` or left out.
pub(crate) fn one_line(text: &[u8], from: usize) -> Option<usize> {
    let rest = &text[from..text.len().min(from + LINE_BYTES_MAX)];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\\ \t:,.".contains(byte);
    let body = rest.iter().take_while(|byte| is_part(byte)).count();
    let is_some = rest[..body].iter().any(u8::is_ascii_alphanumeric);
    match end_of(&rest[body..rest.len().min(body + 80)]) {
        Some(end) if is_some && rest[body..].starts_with(b"-----END") => Some(from + body + end),
        // The block was cut off: the remaining part is secret nevertheless.
        _ => (body >= 40).then_some(from + body),
    }
}

fn end_of(line: &[u8]) -> Option<usize> {
    let sign = line.windows(9).position(|word| word == b"-----END ")?;
    let name = sign + 9;
    Some(line[name..].windows(5).position(|dashes| dashes == b"-----").map_or(line.len(), |found| name + found + 5))
}

/// Reports if a line belongs to a key: mostly base64, or one of the few headers, or empty.
fn is_body(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let longest = line.split(|byte| !is_key(byte)).map(<[u8]>::len).max().unwrap_or(0);
    let is_header = line.windows(2).any(|colon| colon == b": ") && line.len() < 100 && starts_as_header(line);
    let rest = line.iter().filter(|byte| !is_key(byte)).count();
    line.len() <= 3
        || is_header
        || (longest >= 16 && longest * 2 >= line.len())
        || (rest <= 8 && longest >= 4 && is_last(line))
}

fn starts_as_header(line: &[u8]) -> bool {
    [&b"Proc-Type"[..], b"DEK-Info", b"Comment", b"Version", b"Hash"]
        .iter()
        .any(|name| line.windows(name.len()).any(|part| part == *name))
}

/// The last line of a body is short and without spaces between letters.
fn is_last(line: &[u8]) -> bool {
    let line = line.iter().skip_while(|byte| !byte.is_ascii_alphanumeric());
    !line.clone().any(|byte| *byte == b' ')
}

//! Scans a text and replaces secrets by marks.

use std::borrow::Cow;

use crate::{
    blocks::{self, Within},
    commands, escapes,
    hints::{Hint, Hints, MARK},
    known::KnownValues,
    multiline::Scanner,
    names::{self, Secret},
    shapes, value,
};

/// The maximum number of scans after changes: a mark may bring a name and a value together.
const PASSES_MAX: usize = 3;

/// The maximum length of a mark.
const MARK_BYTES_MAX: usize = 48;

/// The length from which on a random value beside the name of a secret must not be published.
const PUBLISHED_BYTES_MIN: usize = 16;

/// The length from which on a secret may exceed the examined range.
const LONG_BYTES: usize = names::VALUE_BYTES_MAX - 256;

/// The state of a stream between two pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// True if the next piece begins within a private key.
    within: Within,
    /// The structure that the next piece begins in.
    scanner: Scanner,
}

/// Finds secrets and marks them.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: KnownValues,
}

/// Redacts a text, as far as secrets are recognised by form and name.
pub fn redact(text: &str) -> Cow<'_, str> {
    Redactor::default().text(text)
}

impl Redactor {
    /// Creates a redactor that also knows secrets by their value. Values shorter than six bytes are not searched for.
    pub fn new<S: AsRef<str>>(known_values: impl IntoIterator<Item = S>) -> Self {
        Redactor { known: KnownValues::new(known_values) }
    }

    /// Returns a redactor that knows more secrets by their value.
    #[must_use]
    pub fn also<S: AsRef<str>>(&self, known_values: impl IntoIterator<Item = S>) -> Self {
        Redactor { known: self.known.and(known_values) }
    }

    /// Returns a redactor that does not know values which are part of a place, such as the path of a run's directory:
    /// whoever may read the run's texts knows that place. `None` if there is no such value.
    #[must_use]
    pub fn sparing(&self, place: &str) -> Option<Self> {
        self.known.any_in(place).then(|| Redactor { known: self.known.except(place) })
    }

    /// Returns the kind of the first secret in a line, if the line has one that must not be published: a known value, a
    /// value with the form of a secret, or a long random one beside the name of a secret. Short passwords are not
    /// reported, because most of them are examples and parts of tests.
    pub fn secret_in(&self, line: &[u8]) -> Option<&'static str> {
        let found = self.scan(line, &mut Within::default()).found;
        let is_meant = |(start, end, kind): &(usize, usize, &'static str)| match *kind {
            "password" | "secret" | "cookie" | "credentials" | "authorization" | "signature" | "key" | "token" => {
                let value = &line[*start..*end];
                value.len() >= PUBLISHED_BYTES_MIN && value::is_random(value) && !value::is_place(value)
            }
            _ => true,
        };
        found.into_iter().find(is_meant).map(|(_, _, kind)| kind)
    }

    /// Returns true if the text has a secret that is known by its value.
    pub fn has_known(&self, text: &[u8]) -> bool {
        self.known.next(text, 0).is_some()
    }

    /// Redacts a text; returns the text itself if it contains no secret.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Secrets begin and end at ASCII characters, so no character is split; if one were, losing it is better
            // than failing.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Redacts bytes; binary content stays.
    pub fn bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        self.lines(text, &mut Position::default())
    }

    /// Reports if a value with this name is a secret: `API_KEY`, `db.password`.
    pub fn is_secret_name(name: &str) -> bool {
        names::is_secret(name)
    }

    /// Reports if the text may contain a secret. It is much faster than redacting, and a negative answer is always
    /// correct.
    pub fn may_hold(&self, text: &str) -> bool {
        let is_found = |text: &[u8]| Hints::all().any(text) || self.known.next(text, 0).is_some();
        is_found(text.as_bytes()) || (escapes::any(text.as_bytes()) && is_found(&escapes::without(text.as_bytes())))
    }

    /// Redacts lines of a stream. `within` is the state at their beginning.
    pub(crate) fn lines<'t>(&self, text: &'t [u8], position: &mut Position) -> Cow<'t, [u8]> {
        if !escapes::any(text) {
            return self.plain_lines(text, position);
        }
        // A sequence can divide a secret, and a secret can stand within a sequence, so both forms are searched.
        let coloured = self.plain_lines(text, &mut position.clone());
        let plain = escapes::without(text);
        escapes::joined(coloured, &plain, self.plain_lines(&plain, position))
    }

    fn plain_lines<'t>(&self, text: &'t [u8], position: &mut Position) -> Cow<'t, [u8]> {
        let passed = self.pass(text, &mut position.within);
        let scanned = position.scanner.scan(passed.as_deref().unwrap_or(text));
        match scanned.or(passed) {
            Some(changed) => Cow::Owned(self.settle(changed)),
            None => Cow::Borrowed(text),
        }
    }

    /// Repeats the search until nothing changes.
    fn settle(&self, mut text: Vec<u8>) -> Vec<u8> {
        for _ in 0..PASSES_MAX {
            match self.pass(&text, &mut Within::default()) {
                Some(changed) => text = changed,
                None => break,
            }
        }
        text
    }

    /// Once through; nothing where nothing changes.
    fn pass(&self, text: &[u8], within: &mut Within) -> Option<Vec<u8>> {
        self.scan(text, within).finish()
    }

    fn scan<'t>(&self, text: &'t [u8], within: &mut Within) -> Writer<'t> {
        let mut writer = Writer { text, copied: 0, out: None, found: Vec::new() };
        if within.is_open() {
            writer.rest_of_block(within);
        }
        let mut at = writer.copied;
        let mut known = self.known.next(text, at);
        loop {
            let hint = Hints::all().next(text, at);
            if known.is_some_and(|(start, _)| start < at) {
                known = self.known.next(text, at);
            }
            let (secret, next) = match (hint, known) {
                (None, None) => break,
                (hint, Some((start, end))) if hint.is_none_or(|(_, at, _)| start <= at) => {
                    (Some((start, end, "known secret")), end)
                }
                (None, Some(_)) => break,
                (Some((Hint::Block, start, _)), _) => {
                    at = writer.block(start, within).unwrap_or(start + 1);
                    continue;
                }
                (Some((hint, start, end)), _) => (look(text, hint, start, end), after(text, hint, start)),
            };
            // If both overlap, a known value takes precedence over one that only has a name.
            let secret = match (secret, known) {
                (Some((start, end, _)), Some(known)) if known.0 < end && start < known.1 => {
                    Some((start.min(known.0), end.max(known.1), "known secret"))
                }
                (secret, _) => secret,
            };
            at = match secret {
                Some((start, end, kind)) if end > start => writer.mark(start, whole(text, start, end), kind),
                _ => next,
            };
        }
        writer
    }
}

/// Examines the text at a hint and returns the secret, if there is one.
fn look(text: &[u8], hint: Hint, start: usize, end: usize) -> Option<Secret> {
    match hint {
        Hint::Mark | Hint::Block => None,
        Hint::Name => names::find(text, start),
        Hint::Foreign => names::foreign(text, start, end),
        Hint::Url => names::url(text, end),
        Hint::Scheme => names::bearer(text, end),
        Hint::Shape(number) => {
            let shape = shapes::all().get(number)?;
            let found = shape.find(text, start).map(|(start, end)| (start, end, shape.kind));
            found.or_else(|| names::find(text, start))
        }
        Hint::Command(number) => {
            commands::all().get(number)?.find(text, start).map(|(start, end)| (start, end, "password"))
        }
    }
}

/// Returns the real end of a secret that exceeds the examined range.
fn whole(text: &[u8], start: usize, end: usize) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=_-.".contains(byte);
    let more = if end - start >= LONG_BYTES { text[end..].iter().take_while(is_part).count() } else { 0 };
    end + more
}

/// Returns the position after a hint without a secret: past a mark, or one byte further, because hints may overlap.
fn after(text: &[u8], hint: Hint, start: usize) -> usize {
    let is_end = |byte: &u8| *byte == b']';
    match hint {
        Hint::Mark => start + text[start..].iter().take(MARK_BYTES_MAX).position(is_end).map_or(1, |end| end + 1),
        _ => start + 1,
    }
}

/// Writes the text with marks; it allocates only if there is a mark.
struct Writer<'t> {
    text: &'t [u8],
    copied: usize,
    out: Option<Vec<u8>>,
    /// The secrets that were replaced.
    found: Vec<Secret>,
}

impl Writer<'_> {
    /// Replaces a secret by a mark; returns the position after the secret.
    fn mark(&mut self, start: usize, end: usize, kind: &'static str) -> usize {
        let start = start.max(self.copied);
        self.found.push((start, end, kind));
        let out = self.out.get_or_insert_with(|| Vec::with_capacity(self.text.len()));
        out.extend(&self.text[self.copied..start]);
        out.extend(MARK.as_bytes());
        out.extend(kind.as_bytes());
        out.push(b']');
        self.copied = end;
        end
    }

    /// Replaces a block that begins at `start` by a mark; returns the position after it.
    fn block(&mut self, start: usize, within: &mut Within) -> Option<usize> {
        let header = blocks::begins(self.text, start)?;
        if let Some(end) = blocks::one_line(self.text, header) {
            return Some(self.mark(start, end, "private key"));
        }
        let line = header
            + self.text[header..]
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(self.text.len() - header, |end| end + 1);
        self.mark(start, line, "private key");
        within.open();
        self.rest_of_block(within);
        Some(self.copied)
    }

    /// Skips the rest of a block.
    fn rest_of_block(&mut self, within: &mut Within) {
        let (length, needs_line_end) = within.pass(&self.text[self.copied..]);
        let out = self.out.get_or_insert_with(Vec::new);
        if needs_line_end {
            out.push(b'\n');
        }
        self.copied += length;
    }

    fn finish(self) -> Option<Vec<u8>> {
        let mut out = self.out?;
        out.extend(&self.text[self.copied..]);
        Some(out)
    }
}

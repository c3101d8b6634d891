//! Goes through a text and puts marks in the place of secrets.

use std::borrow::Cow;

use crate::{
    blocks::{self, Within},
    commands,
    hints::{Hint, Hints, MARK},
    known::Known,
    names::{self, Secret},
    shapes,
};

/// How often a text is gone through again after a change: a mark may have brought two things together.
const PASSES_MAX: usize = 3;

/// The longest mark there is.
const MARK_BYTES_MAX: usize = 48;

/// From here on a secret may be longer than what was looked at.
const LONG_BYTES: usize = names::VALUE_BYTES_MAX - 256;

/// Finds secrets and marks them.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Known,
}

/// A text without its secrets, as far as they can be told by form and name.
pub fn redact(text: &str) -> Cow<'_, str> {
    Redactor::default().text(text)
}

impl Redactor {
    /// One that also knows secrets by their value. Values shorter than six bytes are not looked for.
    pub fn new<S: AsRef<str>>(known_values: impl IntoIterator<Item = S>) -> Self {
        Redactor { known: Known::new(known_values) }
    }

    /// A text without its secrets; the text itself where there are none.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Secrets begin and end beside ASCII, so that no character is cut; were it otherwise, losing one is better than failing.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Bytes without their secrets; whatever is no text stays.
    pub fn bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut result = Cow::Borrowed(text);
        for _ in 0..PASSES_MAX {
            match self.pass(&result, &mut Within::default()) {
                Some(changed) => result = Cow::Owned(changed),
                None => break,
            }
        }
        result
    }

    /// Whether a secret stands under such a name: `API_KEY`, `db.password`.
    pub fn is_secret_name(name: &str) -> bool {
        names::is_secret(name)
    }

    /// Whether this value under this name is a secret: one to be looked for wherever it appears.
    pub fn is_secret(name: &str, value: &str) -> bool {
        names::named(name, value).is_some()
    }

    /// Whether there may be anything to redact. Much quicker than to redact, and never wrong when it says no.
    pub fn may_hold(&self, text: &str) -> bool {
        Hints::all().any(text.as_bytes()) || self.known.next(text.as_bytes(), 0).is_some()
    }

    /// Lines of a stream. `within` says whether they begin within a block.
    pub(crate) fn lines(&self, text: &[u8], within: &mut Within) -> Vec<u8> {
        match self.pass(text, within) {
            Some(changed) => self.bytes(&changed).into_owned(),
            None => text.to_vec(),
        }
    }

    /// Once through; nothing where nothing changes.
    fn pass(&self, text: &[u8], within: &mut Within) -> Option<Vec<u8>> {
        let mut writer = Writer { text, copied: 0, out: None };
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
            // A value that is known comes before one that only has a name, where they meet.
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
        writer.finish()
    }
}

/// What a hint led to.
fn look(text: &[u8], hint: Hint, start: usize, end: usize) -> Option<Secret> {
    match hint {
        Hint::Mark | Hint::Block => None,
        Hint::Name => names::find(text, start),
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

/// Where a secret really ends that is longer than what was looked at.
fn whole(text: &[u8], start: usize, end: usize) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=_-.".contains(byte);
    let more = if end - start >= LONG_BYTES { text[end..].iter().take_while(is_part).count() } else { 0 };
    end + more
}

/// Where to go on after a hint that led to nothing: past a mark, or one byte further, as hints may overlap.
fn after(text: &[u8], hint: Hint, start: usize) -> usize {
    let is_end = |byte: &u8| *byte == b']';
    match hint {
        Hint::Mark => start + text[start..].iter().take(MARK_BYTES_MAX).position(is_end).map_or(1, |end| end + 1),
        _ => start + 1,
    }
}

/// The text with marks, made only where there is one.
struct Writer<'t> {
    text: &'t [u8],
    copied: usize,
    out: Option<Vec<u8>>,
}

impl Writer<'_> {
    /// Puts a mark in the place of a secret; where to go on.
    fn mark(&mut self, start: usize, end: usize, kind: &str) -> usize {
        let start = start.max(self.copied);
        let out = self.out.get_or_insert_with(|| Vec::with_capacity(self.text.len()));
        out.extend(&self.text[self.copied..start]);
        out.extend(MARK.as_bytes());
        out.extend(kind.as_bytes());
        out.push(b']');
        self.copied = end;
        end
    }

    /// Marks a block that begins at `start`; where to go on.
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

    /// Leaves out what is left of a block.
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

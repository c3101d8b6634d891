//! The contents of files by content hash, kept between calls in one cache file per directory.
//!
//! Each line is one record: `N` a name (numbered by position), `F` a file (content hash, size, time, path), `S` the
//! reason why the file above is skipped, `D` a definition in it, `R` the names that it refers to. The last line is a
//! checksum. A file with any other content is ignored: the cache affects only speed.

#![expect(clippy::disallowed_methods, reason = "no program can change the cache directory of maps")]

use std::{
    fmt::Write as _,
    fs,
    hash::Hasher as _,
    io::Write as _,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rustc_hash::FxHashMap;
use sha2::{Digest as _, Sha256};

use crate::{
    Reason,
    names::{Name, Names},
    tags::{Definition, KINDS, Tags},
};

/// The first line. Change the number with every change of the format, the queries or the skip rules.
const HEAD: &str = "interlock map 1\n";

/// The maximum size of a cache that is written or read.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The minimum age at which a file's time is trusted: a file that changes again within a clock tick would have the same
/// time.
const SETTLED_NS: i128 = 2_000_000_000;

/// A cache that has not been written for this long is removed when another one is written.
const KEPT_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The analysed contents of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content<N> {
    Tags(Tags<N>),
    LeftOut(Reason),
}

/// The cached data of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    /// The hash of the content and the language.
    pub(crate) hash: String,
    pub(crate) bytes: u64,
    pub(crate) changed_ns: i128,
    pub(crate) content: Arc<Content<Name>>,
}

/// The cached data of all files.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    pub(crate) names: Names,
    pub(crate) files: FxHashMap<String, Remembered>,
    written_ns: i128,
}

/// Returns the path of a directory's cache.
pub(crate) fn path(home: &Path, root: &Path) -> PathBuf {
    let hash = Sha256::digest(root.as_os_str().as_encoded_bytes());
    home.join("maps").join(hex(&hash[..12]))
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Cache {
    /// Loads a cache file. The cache is empty if the file is missing or damaged.
    pub(crate) fn load(path: &Path) -> Self {
        let is_fit = fs::metadata(path).is_ok_and(|about| about.len() <= BYTES_MAX);
        let text = if is_fit { fs::read_to_string(path).ok() } else { None };
        text.and_then(|text| parse(&text)).unwrap_or_default()
    }

    /// Returns the cached data of a file whose size and time are unchanged.
    pub(crate) fn unchanged(&self, path: &str, bytes: u64, changed_ns: i128) -> Option<&Remembered> {
        let found = self.files.get(path)?;
        let is_same = found.bytes == bytes && found.changed_ns == changed_ns;
        let is_settled = changed_ns + SETTLED_NS < self.written_ns;
        (is_same && is_settled).then_some(found)
    }
}

/// Writes the cache. Failures are ignored, because the cache affects only speed.
pub(crate) fn save<'f>(
    path: &Path,
    names: &Names,
    files: impl Iterator<Item = (&'f str, &'f Remembered)>,
    now_ns: i128,
) {
    let text = write(names, files, now_ns);
    let Some(folder) = path.parent().filter(|_| text.len() as u64 <= BYTES_MAX) else { return };
    // The contents of files belong to their owner, so only the owner may read the cache.
    if fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).is_err() {
        return;
    }
    sweep(folder);
    let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else { return };
    if file.write_all(text.as_bytes()).is_ok() {
        let _ = file.persist(path);
    }
}

/// Removes caches that are no longer used, and temporary files of interrupted calls.
fn sweep(folder: &Path) {
    let is_old = |entry: &fs::DirEntry| {
        let changed = entry.metadata().and_then(|about| about.modified()).ok();
        changed.and_then(|at| SystemTime::now().duration_since(at).ok()).is_some_and(|age| age > KEPT_FOR)
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_old) {
        let _ = fs::remove_file(entry.path());
    }
}

fn write<'f>(names: &Names, files: impl Iterator<Item = (&'f str, &'f Remembered)>, now_ns: i128) -> String {
    let mut numbers = Renumbered { names, numbers: vec![None; names.len()], count: 0, lines: String::new() };
    let mut body = String::new();
    for (path, file) in files {
        let _ = writeln!(body, "F{} {} {} {path}", file.hash, file.bytes, file.changed_ns);
        match &*file.content {
            Content::LeftOut(reason) => {
                let number = Reason::ALL.iter().position(|one| one == reason).unwrap_or(0);
                let _ = writeln!(body, "S{number}");
            }
            Content::Tags(tags) => write_tags(&mut body, tags, &mut numbers),
        }
    }
    let mut text = format!("{HEAD}T{now_ns}\n{}{body}", numbers.lines);
    let _ = writeln!(text, "E{:016x}", checksum(text.as_bytes()));
    text
}

/// Names with new numbers, so that unused names are not kept.
struct Renumbered<'n> {
    names: &'n Names,
    numbers: Vec<Option<u32>>,
    count: u32,
    lines: String,
}

impl Renumbered<'_> {
    fn number(&mut self, name: Name) -> u32 {
        if let Some(Some(number)) = self.numbers.get(name.0 as usize) {
            return *number;
        }
        let number = self.count;
        self.count += 1;
        if let Some(place) = self.numbers.get_mut(name.0 as usize) {
            *place = Some(number);
        }
        let _ = writeln!(self.lines, "N{}", self.names.text(name));
        number
    }
}

fn write_tags(body: &mut String, tags: &Tags<Name>, numbers: &mut Renumbered<'_>) {
    for definition in &tags.definitions {
        let kind = KINDS.iter().position(|kind| *kind == definition.kind).unwrap_or(0);
        let Definition { line, end_line, signature, .. } = definition;
        let name = numbers.number(definition.name);
        let _ = writeln!(body, "D{kind} {line} {end_line} {name} {signature}");
    }
    body.push('R');
    for (name, count) in &tags.references {
        let _ = write!(body, "{} {count} ", numbers.number(*name));
    }
    body.push('\n');
}

fn parse(text: &str) -> Option<Cache> {
    let (body, end) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let body = &text[..=body.len()];
    let is_whole = u64::from_str_radix(end.strip_prefix('E')?, 16).ok()? == checksum(body.as_bytes());
    let rest = body.strip_prefix(HEAD).filter(|_| is_whole)?;
    let mut reading = CacheParser::default();
    for line in rest.split_terminator('\n') {
        reading.line(line)?;
    }
    reading.close();
    Some(reading.cache)
}

/// The state of a parser that reads a cache.
#[derive(Default)]
struct CacheParser {
    cache: Cache,
    numbers: Vec<Name>,
    open: Option<(String, Remembered)>,
    tags: Tags<Name>,
    reason: Option<Reason>,
}

impl CacheParser {
    fn line(&mut self, line: &str) -> Option<()> {
        let (kind, line) = line.split_at_checked(1)?;
        match kind {
            "T" => self.cache.written_ns = line.parse().ok()?,
            "N" => self.numbers.push(self.cache.names.number(line)),
            "F" => {
                self.close();
                self.open = Some(file(line)?);
            }
            "S" => self.reason = Some(*Reason::ALL.get(line.parse::<usize>().ok()?)?),
            "D" => self.tags.definitions.push(definition(line, &self.numbers)?),
            "R" => self.tags.references = references(line, &self.numbers)?,
            _ => return None,
        }
        Some(())
    }

    fn close(&mut self) {
        let tags = std::mem::take(&mut self.tags);
        let content = self.reason.take().map_or(Content::Tags(tags), Content::LeftOut);
        if let Some((path, mut file)) = self.open.take() {
            file.content = Arc::new(content);
            self.cache.files.insert(path, file);
        }
    }
}

fn file(line: &str) -> Option<(String, Remembered)> {
    let mut parts = line.splitn(4, ' ');
    let hash = parts.next()?.to_owned();
    let (bytes, changed_ns) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let content = Arc::new(Content::Tags(Tags::default()));
    Some((parts.next()?.to_owned(), Remembered { hash, bytes, changed_ns, content }))
}

fn definition(line: &str, numbers: &[Name]) -> Option<Definition<Name>> {
    let mut parts = line.splitn(5, ' ');
    let kind = KINDS.get(parts.next()?.parse::<usize>().ok()?)?;
    let (line, end_line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let name = *numbers.get(parts.next()?.parse::<usize>().ok()?)?;
    Some(Definition { name, kind, line, end_line, signature: parts.next()?.to_owned() })
}

fn references(line: &str, numbers: &[Name]) -> Option<Vec<(Name, u32)>> {
    let mut words = line.split_ascii_whitespace();
    let mut all = Vec::new();
    while let Some(name) = words.next() {
        all.push((*numbers.get(name.parse::<usize>().ok()?)?, words.next()?.parse().ok()?));
    }
    Some(all)
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Names, Remembered) {
        let mut names = Names::default();
        let (_, push, ring) = (names.number("gone"), names.number("push"), names.number("ring"));
        let one =
            Definition { name: push, kind: "function", line: 3, end_line: 9, signature: "int push(int v)".into() };
        let tags = Tags { definitions: vec![one], references: vec![(push, 2), (ring, 1)] };
        let content = Arc::new(Content::Tags(tags));
        (names, Remembered { hash: "ab12".into(), bytes: 70, changed_ns: 5, content })
    }

    fn written(now_ns: i128) -> String {
        let (names, file) = sample();
        let other = Remembered { content: Arc::new(Content::LeftOut(Reason::Binary)), ..file.clone() };
        write(&names, [("src/a b.c", &file), ("logo.bin", &other)].into_iter(), now_ns)
    }

    #[test]
    fn a_cache_round_trips() {
        let cache = parse(&written(10_000_000_000)).unwrap();
        let Content::Tags(tags) = &*cache.files["src/a b.c"].content else { panic!("it was looked into") };
        assert_eq!(tags.definitions[0].signature, "int push(int v)");
        let spoken: Vec<_> = tags.references.iter().map(|(name, count)| (cache.names.text(*name), *count)).collect();
        assert_eq!(spoken, [("push", 2), ("ring", 1)]);
        assert_eq!(cache.names.len(), 2, "a name that nobody speaks of is not kept");
        assert_eq!(*cache.files["logo.bin"].content, Content::LeftOut(Reason::Binary));
    }

    #[test]
    fn a_damaged_cache_is_ignored() {
        let text = written(10_000_000_000);
        for at in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[at] ^= 1;
            assert!(String::from_utf8(damaged).ok().and_then(|text| parse(&text)).is_none(), "byte {at}");
            assert!(parse(&text[..at]).is_none(), "cut at {at}");
        }
        assert!(parse(&format!("{text}x")).is_none());
    }

    #[test]
    fn a_file_that_changed_during_the_write_is_read_again() {
        assert!(parse(&written(6)).unwrap().unchanged("src/a b.c", 70, 5).is_none());
        let later = parse(&written(10_000_000_000)).unwrap();
        assert!(later.unchanged("src/a b.c", 70, 5).is_some());
        assert!(later.unchanged("src/a b.c", 71, 5).is_none());
        assert!(later.unchanged("src/a b.c", 70, 6).is_none());
    }
}

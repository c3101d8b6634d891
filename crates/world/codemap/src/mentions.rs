//! Places that a text mentions: `src/ring.c:12`, `File "app.py", line 3`. The places in a log are better evidence than
//! words.

use rustc_hash::FxHashMap;

/// The maximum number of places taken from a text, beginning at its end, because the last error is usually printed
/// last.
const MENTIONS_MAX: usize = 100;

/// The maximum number of bytes of a text that are searched, from its end.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// The maximum length of a file extension.
const END_BYTES_MAX: usize = 8;

/// A place that a text mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The path as the text writes it.
    pub path: String,
    /// The line number, from 1.
    pub line: Option<u32>,
}

/// Returns the places that a text mentions.
pub fn mentions(text: &str) -> Vec<Mention> {
    let begin = text.len().saturating_sub(TEXT_BYTES_MAX);
    let begin = (begin..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let is_part = |letter: char| letter.is_alphanumeric() || "_./\\+-:@~".contains(letter);
    let words: Vec<&str> = text[begin..].split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).collect();
    let mut found: Vec<Mention> = Vec::new();
    for (at, word) in words.iter().enumerate().rev() {
        let Some(mut mention) = read(word) else { continue };
        if mention.line.is_none() && words.get(at + 1) == Some(&"line") {
            mention.line = words.get(at + 2).and_then(|number| number.trim_end_matches([':', '.']).parse().ok());
        }
        if !found.contains(&mention) {
            found.push(mention);
        }
        if found.len() == MENTIONS_MAX {
            break;
        }
    }
    found
}

fn read(word: &str) -> Option<Mention> {
    let mut parts = word.trim_end_matches([':', '.', '-']).split(':');
    let mut path = parts.next()?;
    // A Windows path: `C:\src\ring.c`.
    if path.len() == 1 {
        path = parts.next()?;
    }
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let name = path.rsplit('/').next()?;
    let (stem, end) = name.rsplit_once('.')?;
    let is_end =
        !end.is_empty() && end.len() <= END_BYTES_MAX && end.starts_with(|letter: char| letter.is_alphabetic());
    let line = parts.next().and_then(|number| number.parse().ok());
    (is_end && !stem.is_empty()).then(|| Mention { path: path.to_owned(), line })
}

/// Files by name, for looking up mentioned paths.
pub(crate) struct ByName<'p>(FxHashMap<&'p str, Vec<(usize, &'p str)>>);

impl<'p> ByName<'p> {
    pub(crate) fn new(paths: impl Iterator<Item = &'p str>) -> Self {
        let mut names: FxHashMap<&str, Vec<(usize, &str)>> = FxHashMap::default();
        for (at, path) in paths.enumerate() {
            names.entry(path.rsplit('/').next().unwrap_or(path)).or_default().push((at, path));
        }
        ByName(names)
    }

    /// Returns the files that a path may refer to: those whose path ends with it, or with which it ends.
    pub(crate) fn find(&self, path: &str) -> Vec<usize> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_meant = |file: &str| file == path || is_end(file, path) || is_end(path, file);
        let candidates = self.0.get(name).into_iter().flatten();
        candidates.filter(|(_, file)| is_meant(file)).map(|(at, _)| *at).collect()
    }
}

fn is_end(whole: &str, end: &str) -> bool {
    whole.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_program_output() {
        let check = |text: &str, expected: &[(&str, Option<u32>)]| {
            let found: Vec<_> = mentions(text).into_iter().map(|one| (one.path, one.line)).collect();
            let expected: Vec<_> = expected.iter().map(|(path, line)| ((*path).to_owned(), *line)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("src/ring.c:12:5: error: expected ';'", &[("src/ring.c", Some(12))]);
        check("  File \"/srv/app/main.py\", line 3, in <module>", &[("/srv/app/main.py", Some(3))]);
        check("at C:\\src\\ring.c:7", &[("/src/ring.c", Some(7))]);
        check("fix the overflow in ./uart.c.", &[("uart.c", None)]);
        check("version 1.2.3, and so on. The end", &[]);
        check("", &[]);
    }

    #[test]
    fn a_path_matches_by_its_end() {
        let names = ByName::new(["src/ring.c", "lib/ring.c", "src/string.c"].into_iter());
        assert_eq!(names.find("ring.c"), [0, 1]);
        assert_eq!(names.find("/build/7/lib/ring.c"), [1]);
        assert_eq!(names.find("other.c"), [0_usize; 0]);
    }
}

//! Presents the recorded rounds: equal ones once with a count, undone fixes marked as such, and only those with
//! enough common words as similar.
//!
//! The knowledge base keeps every round of every run (`interlock-knowledge`); nothing here removes an entry.

use std::collections::BTreeSet;

use interlock_journal::Result;
use interlock_knowledge::{Came, Entry, Hit, Knowledge, Round};
use serde::Serialize;

/// The tag of an entry whose fix was delivered and later undone.
pub const TAKEN_BACK: &str = "taken_back";

/// The number of entries that are read for each lesson that is shown: many entries may be equal.
pub const ENTRIES_PER_LESSON: usize = 8;

/// The number of words that two texts must share to be similar, and the inverse of the shared part of the shorter
/// text.
const SHARED_MIN: usize = 2;
const SHARED_PART: usize = 8;

/// The shortest word that counts; shorter words carry no meaning.
const WORD_CHARS_MIN: usize = 3;

/// Words that occur in every goal and in every test log.
const COMMON: [&str; 67] = [
    "actual",
    "after",
    "again",
    "all",
    "and",
    "any",
    "are",
    "assert",
    "assertion",
    "because",
    "before",
    "bug",
    "build",
    "but",
    "case",
    "code",
    "does",
    "error",
    "every",
    "expected",
    "fail",
    "failed",
    "failure",
    "false",
    "file",
    "firmware",
    "fix",
    "fixed",
    "for",
    "from",
    "function",
    "has",
    "have",
    "include",
    "into",
    "its",
    "line",
    "main",
    "make",
    "message",
    "must",
    "none",
    "not",
    "null",
    "pass",
    "passed",
    "passes",
    "program",
    "result",
    "right",
    "should",
    "src",
    "status",
    "suite",
    "test",
    "than",
    "that",
    "the",
    "then",
    "this",
    "true",
    "value",
    "was",
    "were",
    "when",
    "with",
    "wrong",
];

/// A lesson with the number of entries that agree on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lesson {
    /// The best match; of equal entries the newest.
    #[serde(flatten)]
    pub hit: Hit,
    /// The number of entries with this content.
    pub times: usize,
    /// The number of those entries whose fix was undone.
    pub taken_back: usize,
}

impl Lesson {
    /// Describes the result, the number of times it occurred, and the number of times it was undone.
    pub fn came(&self) -> String {
        often(&self.hit.entry, self.times, self.taken_back)
    }
}

/// Describes the result of entries with equal content.
fn often(entry: &Entry, times: usize, taken_back: usize) -> String {
    let name = entry.result.name();
    match (times, taken_back) {
        (0 | 1, 0) => name.to_owned(),
        (0 | 1, _) => format!("{name}, undone"),
        (times, 0) => format!("{name} {times} times"),
        (times, back) if back == times => format!("{name} {times} times, all of them undone"),
        (times, back) => format!("{name} {times} times, {back} of them undone"),
    }
}

/// Describes the result of an entry together with all equal entries; `same` includes the entry itself.
pub fn came_of_all(same: &[Entry], entry: &Entry) -> String {
    often(entry, same.len(), same.iter().filter(|same| is_taken_back(same)).count())
}

/// Describes the result of an entry's round.
pub fn came(entry: &Entry) -> String {
    often(entry, 1, usize::from(is_taken_back(entry)))
}

fn is_taken_back(entry: &Entry) -> bool {
    entry.tags.iter().any(|tag| tag == TAKEN_BACK)
}

/// Reports whether two entries are equal in symptom, patch and result.
pub fn is_same(one: &Entry, two: &Entry) -> bool {
    let told = |entry: &Entry| (entry.machine.clone(), entry.product_line.clone(), entry.result.name());
    one.symptom == two.symptom && one.patch == two.patch && told(one) == told(two)
}

/// Merges equal hits into lessons, in the order of the hits.
pub fn once(hits: Vec<Hit>, at_most: usize) -> Vec<Lesson> {
    let mut lessons: Vec<Lesson> = Vec::new();
    for hit in hits {
        let back = usize::from(is_taken_back(&hit.entry));
        match lessons.iter_mut().find(|lesson| is_same(&lesson.hit.entry, &hit.entry)) {
            Some(known) => {
                known.times += 1;
                known.taken_back += back;
                if known.hit.entry.at < hit.entry.at {
                    known.hit.entry = hit.entry;
                }
            }
            None => lessons.push(Lesson { hit, times: 1, taken_back: back }),
        }
    }
    lessons.truncate(at_most);
    lessons
}

/// Records whether the fix of a run is undone. Entries of rounds that were no fix stay unchanged.
///
/// # Errors
///
/// Returns an error if the knowledge base cannot be read or written.
pub fn mark(base: &Knowledge, run: &str, is_back: bool) -> Result<()> {
    let fixes = base.of_run(run)?.into_iter().filter(|entry| entry.result == Came::Fixed);
    for entry in fixes.filter(|entry| is_taken_back(entry) != is_back) {
        let mut round = round(entry);
        match is_back {
            true => round.tags.push(TAKEN_BACK.to_owned()),
            false => round.tags.retain(|tag| tag != TAKEN_BACK),
        }
        base.record(&round)?;
    }
    Ok(())
}

/// Converts an entry back into the round that was recorded.
fn round(entry: Entry) -> Round {
    Round {
        run: entry.run,
        iteration: entry.iteration,
        at_ms: entry.at,
        machine: entry.machine,
        title: entry.title,
        symptom: entry.symptom,
        cause: entry.cause,
        patch: entry.patch,
        result: Some(entry.result),
        product_line: entry.product_line,
        tags: entry.tags,
        files: entry.files,
        confidence: entry.confidence,
        evidence_refs: entry.evidence_refs,
    }
}

/// Reports whether an entry shares enough words with a text: any two logs share one common word.
pub(crate) fn is_similar(text: &str, entry: &Entry) -> bool {
    let own = words(&format!("{} {} {} {}", entry.title, entry.symptom, entry.cause, entry.files.join(" ")));
    let asked = words(text);
    let shared = own.intersection(&asked).count();
    shared >= SHARED_MIN && shared * SHARED_PART >= own.len().min(asked.len())
}

/// Returns the meaningful words of a text. The parts of an identifier count as words.
fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|sign: char| !sign.is_alphanumeric()).map(str::to_lowercase);
    // A word with a digit in it is usually an address or a hash.
    let says_something = |word: &String| {
        let is_common = COMMON.contains(&word.as_str());
        word.chars().count() >= WORD_CHARS_MIN && word.chars().all(char::is_alphabetic) && !is_common
    };
    let singular = parts.filter(says_something).map(|word| match word.ends_with("ss") {
        true => word,
        false => word.strip_suffix('s').unwrap_or(&word).to_owned(),
    });
    singular.filter(says_something).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: &str =
        "All cases of the frame parser pass src/tests.c:90:frame_one_byte_too_long_is_refused:FAIL: Expected 0 Was 3";

    fn learned(run: &str, title: &str, symptom: &str, file: &str) -> Round {
        let (run, title, symptom) = (run.to_owned(), title.to_owned(), symptom.to_owned());
        Round { run, title, symptom, files: vec![file.to_owned()], result: Some(Came::Fixed), ..Round::default() }
    }

    fn base(rounds: &[Round]) -> (tempfile::TempDir, Knowledge) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let base = Knowledge::open(folder.path()).unwrap();
        rounds.iter().for_each(|round| drop(base.record(round).unwrap()));
        (folder, base)
    }

    fn is_found(title: &str, symptom: &str, file: &str) -> bool {
        let (_folder, base) = base(&[learned("r", title, symptom, file)]);
        is_similar(FRAME, &base.all().unwrap()[0])
    }

    #[test]
    fn entries_sharing_only_common_words_are_not_similar() {
        let title = "All cases of the lamp pass";
        assert!(!is_found(title, "src/tests.c:12:lamp_blinks:FAIL: Expected 1 Was 0", "src/lamp.c"));
        assert!(!is_found(title, "src/tests.c:12:one_lamp_is_lit:FAIL: Expected 1 Was 0", "src/lamp.c"));
        assert!(is_found("The parser is right", "case `frame_too_short_is_refused` failed", "src/frame.c"));
    }

    #[test]
    fn equal_entries_are_merged_with_a_count() {
        let again =
            |run: &str, at_ms| Round { at_ms, ..learned(run, "the frame parser", "frame fails", "src/frame.c") };
        let other = learned("d", "the frame parser", "another frame fails", "src/frame.c");
        let (_folder, base) = base(&[again("a", 1), again("b", 3), again("c", 2), other]);
        let lessons = once(base.search("frame", &Default::default(), 10).unwrap(), 5);
        let mut told: Vec<_> = lessons.iter().map(|lesson| (lesson.hit.entry.run.as_str(), lesson.times)).collect();
        told.sort_unstable();
        assert_eq!(told, [("b", 3), ("d", 1)]);
        let came = |taken_back: &[&str]| {
            taken_back.iter().for_each(|run| mark(&base, run, true).unwrap());
            let lessons = once(base.search("frame", &Default::default(), 10).unwrap(), 5);
            lessons.iter().find(|lesson| lesson.times == 3).unwrap().came()
        };
        assert_eq!(came(&[]), "fixed 3 times");
        assert_eq!(came(&["a"]), "fixed 3 times, 1 of them undone");
        assert_eq!(came(&["b", "c"]), "fixed 3 times, all of them undone");
    }

    #[test]
    fn undone_fix_is_marked_until_it_is_redone() {
        let (_folder, base) = base(&[learned("a", "one", "x", "y"), learned("b", "two", "x", "y")]);
        let came = || base.all().unwrap().iter().map(came).collect::<Vec<_>>();
        mark(&base, "a", true).unwrap();
        mark(&base, "a", true).unwrap();
        assert_eq!(came(), ["fixed, undone", "fixed"]);
        mark(&base, "a", false).unwrap();
        assert_eq!(came(), ["fixed", "fixed"]);
    }
}

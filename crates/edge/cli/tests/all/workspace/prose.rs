//! Keeps the comments of the sources plain: few comments open with a question word or consist of a few words.
//!
//! The limits are generous. They notice a slide back; a reader judges the single sentence.

use std::path::{Path, PathBuf};

use super::root;

/// The largest share of doc comments that open with a question word, in percent.
const OPENINGS_MAX: f64 = 4.0;
/// The largest share of doc comments of three words or fewer, in percent.
const SHORT_MAX: f64 = 3.0;
/// The most uses of these pronouns per 1,000 words of comments.
const WHAT_MAX: f64 = 4.0;
const NOBODY_MAX: f64 = 0.5;
const QUESTION_WORDS: [&str; 7] = ["what", "how", "where", "whether", "which", "who", "why"];

#[derive(Default)]
struct Figures {
    comments: usize,
    openings: usize,
    short: usize,
    words: usize,
    what: usize,
    nobody: usize,
}

impl Figures {
    fn add(&mut self, comment: &str) {
        let text = comment.to_lowercase();
        let words: Vec<&str> =
            text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        self.comments += 1;
        self.openings += usize::from(words.first().is_some_and(|first| QUESTION_WORDS.contains(first)));
        self.short += usize::from(words.len() <= 3);
        self.words += words.len();
        self.what += words.iter().filter(|word| **word == "what").count();
        self.nobody += words.iter().filter(|word| ["nobody", "somebody", "whoever"].contains(*word)).count();
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The doc comments of a source text, each as one line.
fn doc_comments(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        let line = line.trim_start();
        match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            Some(words) if is_inside => *found.last_mut().unwrap() += words,
            Some(words) => found.push(words.to_owned()),
            None => {}
        }
        is_inside = line.starts_with("///") || line.starts_with("//!");
    }
    found
}

#[test]
fn comments_stay_plain() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut figures = Figures::default();
    for file in files {
        doc_comments(&std::fs::read_to_string(file).unwrap()).iter().for_each(|comment| figures.add(comment));
    }
    assert!(figures.comments > 5_000, "only {} doc comments were found", figures.comments);
    let share = |part: usize, whole: usize, scale: f64| scale * part as f64 / whole as f64;
    let measured = [
        ("% open with a question word", share(figures.openings, figures.comments, 100.0), OPENINGS_MAX),
        ("% have three words or fewer", share(figures.short, figures.comments, 100.0), SHORT_MAX),
        ("\"what\" per 1,000 words", share(figures.what, figures.words, 1000.0), WHAT_MAX),
        ("\"nobody\" and the like per 1,000 words", share(figures.nobody, figures.words, 1000.0), NOBODY_MAX),
    ];
    for (name, value, max) in measured {
        assert!(value <= max, "doc comments: {value:.1} {name}, more than {max}");
    }
}

#[test]
fn doc_comments_are_joined_by_block() {
    let text = "/// One\n/// two.\nfn f() {}\n//! Three.\n// Not one.\n";
    assert_eq!(doc_comments(text), [" One two.", " Three."]);
}

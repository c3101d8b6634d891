//! pytest without `-v`: one letter per case behind the name of the file.

use super::{super::reading::form, Status};

/// The meaning of one letter.
pub(super) enum LetterMeaning {
    /// A case ended with this status.
    Ended(Status),
    /// A case failed and is repeated.
    Again,
    /// A part of a case ended. Failed parts are counted at the end.
    Part,
}

/// Parses a line such as `test_ring.py ..F.s [ 50%]` into the file and its letters. Files other than Python can have
/// cases too.
pub(super) fn of(text: &str) -> Option<(String, Vec<LetterMeaning>)> {
    let found = form!(r"^(?:(?P<file>\S+\.\w+) )?(?P<letters>[.FEsxXRu,-]+)(?:\s+\[ *\d+%\])?$")?.captures(text)?;
    let file = found.name("file").map_or("case", |file| file.as_str());
    let is_shown = found.name("file").is_some() || text.ends_with(']');
    is_shown.then(|| (file.to_owned(), letters(&found["letters"])))
}

/// Parses letters that are separated from the file name because a case has printed something (`-s`): alone on a line,
/// or before the output of the next case.
pub(super) fn interrupted(text: &str, file: Option<&str>) -> Option<(String, Vec<LetterMeaning>)> {
    if let Some(found) = form!(r"^(?P<file>\S+\.(?:py|rst|txt|md)) \S")?.captures(text) {
        return Some((found["file"].to_owned(), Vec::new()));
    }
    let file = file?;
    let found = form!(r"^(?P<letters>[.FEsxXRu,-]+)$")?.captures(text)?;
    Some((file.to_owned(), letters(&found["letters"])))
}

fn letters(text: &str) -> Vec<LetterMeaning> {
    // pytest uses the same letter for passed and failed subtests; the older plugin also used a comma and a dash.
    let letter = |letter: char| match letter {
        '.' | 'X' => LetterMeaning::Ended(Status::Passed),
        's' | 'x' => LetterMeaning::Ended(Status::Skipped),
        'R' => LetterMeaning::Again,
        'u' | ',' | '-' => LetterMeaning::Part,
        _ => LetterMeaning::Ended(Status::Failed),
    };
    text.chars().map(letter).collect()
}

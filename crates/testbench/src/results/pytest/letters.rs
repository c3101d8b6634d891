//! pytest without `-v`: one letter per case behind the name of the file.

use super::{super::reading::form, Status};

/// The file and how its cases ended, if the line is `test_ring.py ..F.s [ 50%]`.
pub(super) fn of(text: &str) -> Option<(String, Vec<Status>)> {
    let found = form!(r"^(?:(?P<file>\S+\.py) )?(?P<letters>[.FEsxX]+)(?:\s+\[ *\d+%\])?$")?.captures(text)?;
    let file = found.name("file").map_or("case", |file| file.as_str());
    let is_shown = found.name("file").is_some() || text.ends_with(']');
    is_shown.then(|| (file.to_owned(), found["letters"].chars().map(status).collect()))
}

fn status(letter: char) -> Status {
    match letter {
        '.' | 'X' => Status::Passed,
        's' | 'x' => Status::Skipped,
        _ => Status::Failed,
    }
}

//! The difference of the checks, in the form in which a person sees it who decides about objections.

use interlock_activity::Attempt;

use crate::Verdict;

/// The name of the evidence with the whole difference.
pub(crate) const EVIDENCE: &str = "changed_checks";

/// The most bytes that a person sees without asking for more.
const SHOWN_BYTES_MAX: usize = 4_000;

impl Verdict {
    /// Returns the beginning of the difference between the old and the new checks, with the command that shows all of it.
    pub fn changed_checks(&self, attempt: &Attempt) -> String {
        let kept = self.evidence.iter().find(|file| file.name == EVIDENCE);
        let text = kept.and_then(|file| attempt.evidence.get(&file.hash).ok()).unwrap_or_default();
        match shown(&String::from_utf8_lossy(&text)) {
            (_, 0) if text.is_empty() => "no test, setting or script of the checks has changed".to_owned(),
            (text, 0) => text,
            (text, more) => format!("{text}… {more} more lines: interlock evidence {} {EVIDENCE}\n", attempt.run),
        }
    }
}

/// Returns the first lines of a text, and the number of the others.
fn shown(text: &str) -> (String, usize) {
    let (mut shown, mut more) = (String::new(), 0);
    for line in text.split_inclusive('\n') {
        match more == 0 && shown.len() + line.len() <= SHOWN_BYTES_MAX {
            true => shown.push_str(line),
            false => more += 1,
        }
    }
    (shown, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_difference_is_cut_between_lines_and_the_rest_is_counted() {
        assert_eq!(shown("a\nb\n"), ("a\nb\n".to_owned(), 0));
        let line = format!("{}\n", "x".repeat(999));
        let (text, more) = shown(&line.repeat(7));
        assert_eq!((text.len(), more), (4_000, 3));
        assert_eq!(shown(&"x".repeat(9_000)), (String::new(), 1));
    }
}

//! Labels of arrows: `event [guard] / effect`, or free text.

use crate::names;

/// Characters that end a label or have a meaning in one, with Mermaid's codes for them.
const CODES: [(char, &str); 7] =
    [('#', "#35;"), (':', "#58;"), (';', "#59;"), ('<', "#lt;"), ('>', "#gt;"), ('"', "#quot;"), ('\n', " ")];

/// Encodes a text for use in a label.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match CODES.iter().find(|(plain, _)| *plain == letter) {
            Some((_, code)) => out.push_str(code),
            None => out.push(letter),
        }
    }
    out
}

/// Decodes the text of a label.
pub(super) fn decode(text: &str) -> String {
    let codes = CODES.iter().skip(1).filter(|(letter, _)| *letter != '\n');
    let text = codes.fold(text.to_owned(), |text, (letter, code)| text.replace(code, &letter.to_string()));
    text.replace("#35;", "#").replace("<br/>", " ").replace("<br>", " ").trim().to_owned()
}

/// The parts of a label.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Label {
    /// The event's name, or `None` if there is only a guard.
    pub(super) event: Option<String>,
    /// The text between brackets.
    pub(super) guard: Option<String>,
    /// The whole label, if the event's name does not contain all of it.
    pub(super) reason: Option<String>,
}

/// Splits a label into its parts.
pub(super) fn read(label: &str) -> Label {
    let (words, guard) = match (label.find('['), label.rfind(']')) {
        (Some(open), Some(close)) if open < close => {
            let words = format!("{} {}", &label[..open], &label[close + 1..]);
            (words.trim().to_owned(), Some(label[open + 1..close].trim().to_owned()))
        }
        _ => (label.to_owned(), None),
    };
    let bare = words.strip_prefix("on ").unwrap_or(&words).trim();
    let has_words = bare.contains(char::is_alphanumeric);
    let event = has_words.then(|| names::event(bare));
    let reason = (event.as_deref() != Some(label)).then(|| label.to_owned());
    Label { event, guard: guard.filter(|guard| !guard.is_empty()), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_becomes_an_event_with_the_label_as_its_reason() {
        let cases = [
            ("go", Some("go"), None, None),
            ("on task_request", Some("task_request"), None, Some("on task_request")),
            ("patch invalid / unsafe", Some("patch_invalid_unsafe"), None, Some("patch invalid / unsafe")),
            ("continue (next iter)", Some("continue_next_iter"), None, Some("continue (next iter)")),
            ("done [all good]", Some("done"), Some("all good"), Some("done [all good]")),
            ("[n < 3]", None, Some("n < 3"), Some("[n < 3]")),
            ("a.b", Some("a.b"), None, None),
            ("!", None, None, Some("!")),
        ];
        for (label, event, guard, reason) in cases {
            let read = read(label);
            assert_eq!(
                (read.event.as_deref(), read.guard.as_deref(), read.reason.as_deref()),
                (event, guard, reason),
                "{label}"
            );
        }
    }

    #[test]
    fn labels_round_trip() {
        for text in ["a: b; c", "x < 3 && y > 4", "#1 \"quoted\"", "#58;"] {
            let written = encode(text);
            assert!(!written.contains([':', '<', '>', '"']), "{written}");
            assert_eq!(decode(&written), text);
        }
    }
}

//! Small functions over text.

/// Cuts a text to a number of characters; a cut text ends with "…".
pub fn cut(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    text.chars().take(length.saturating_sub(1)).chain(['…']).collect()
}

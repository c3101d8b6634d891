//! Random marks around data, so that data cannot close its own block.

use std::borrow::Cow;

/// The mark that delimits data in one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// Creates a new random mark.
    pub fn fresh() -> Result<Self, String> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| format!("could not get random bytes: {error}"))?;
        Ok(Mark(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Restores a mark that a conversation has kept.
    pub(crate) fn from_text(text: &str) -> Self {
        Mark(text.to_owned())
    }

    /// Returns the text of the mark, to be kept with a conversation.
    pub(crate) fn into_text(self) -> String {
        self.0
    }

    /// Returns the opening tag of a data block.
    pub fn open(&self, about: &str) -> String {
        format!("<data-{}{about}>", self.0)
    }

    /// Returns the closing tag of a data block.
    pub fn close(&self) -> String {
        format!("</data-{}>", self.0)
    }

    /// Wraps a value that appears within a sentence.
    pub fn inline(&self, text: &str) -> String {
        format!("{}{}{}", self.open(""), self.kept_out_of(text), self.close())
    }

    /// Removes the marks again, for people, who need none to distinguish data from instructions.
    pub fn taken_off(&self, text: &str) -> String {
        text.replace(&self.open(""), "").replace(&self.close(), "")
    }

    /// Returns the text with any occurrence of the mark replaced. An occurrence is nearly impossible, but safety must
    /// not depend on chance.
    pub fn kept_out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match text.contains(&self.0) {
            true => Cow::Owned(text.replace(&self.0, "????????????????")),
            false => Cow::Borrowed(text),
        }
    }
}

//! The marks around data: made of chance, so that data cannot end its own block.

use std::borrow::Cow;

/// What marks data in one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// A fresh one.
    pub fn fresh() -> Result<Self, String> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| format!("there is no chance to be had: {error}"))?;
        Ok(Mark(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The beginning of a block.
    pub fn open(&self, about: &str) -> String {
        format!("<data-{}{about}>", self.0)
    }

    /// Its end.
    pub fn close(&self) -> String {
        format!("</data-{}>", self.0)
    }

    /// A value within a sentence.
    pub fn inline(&self, text: &str) -> String {
        format!("{}{}{}", self.open(""), self.kept_out_of(text), self.close())
    }

    /// The same for people, who need no marks to tell data from words.
    pub fn taken_off(&self, text: &str) -> String {
        text.replace(&self.open(""), "").replace(&self.close(), "")
    }

    /// A text without the mark in it. That it is there at all is next to impossible; that it works must not depend on luck.
    pub fn kept_out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match text.contains(&self.0) {
            true => Cow::Owned(text.replace(&self.0, "????????????????")),
            false => Cow::Borrowed(text),
        }
    }
}

//! Interned names: the same name occurs in many files and is compared often.

use rustc_hash::FxHashMap;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(pub(crate) u32);

/// All names with their numbers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: FxHashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
}

impl Names {
    /// Returns the number of a name, and adds the name if it is new.
    pub(crate) fn number(&mut self, text: &str) -> Name {
        if let Some(number) = self.numbers.get(text) {
            return Name(*number);
        }
        // More names than this do not fit in any cache that is read.
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        Name(number)
    }

    /// Returns the name with this number.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.texts.get(name.0 as usize).map_or("", |text| text)
    }

    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns all names, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}

//! Reads TOML tables field by field: each problem is recorded with its line, and reading continues.

use std::{collections::BTreeSet, fmt, ops::Range};

use toml::de::{DeTable, DeValue};

/// One problem of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line number, from 1.
    pub line: usize,
    /// A description of the problem.
    pub message: String,
    /// A suggestion for a correction.
    pub hint: Option<String>,
}

/// All problems of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    /// The path of the file, as it is shown to people.
    pub file: String,
    /// The problems, sorted by line.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            write!(out, "{end}{}:{}: {}", self.file, problem.line, problem.message)?;
            if let Some(hint) = &problem.hint {
                write!(out, "\n  Hint: {hint}")?;
            }
        }
        Ok(())
    }
}

/// A file that is being read, with its problems so far.
#[derive(Debug)]
pub(crate) struct FileParser<'t> {
    text: &'t str,
    pub(crate) problems: Vec<Problem>,
}

/// A value and its byte offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'d, 't> {
    value: &'d DeValue<'t>,
    pub(crate) at: usize,
}

/// A table with the names of the fields that were requested.
#[derive(Debug)]
pub(crate) struct Fields<'d, 't> {
    table: &'d DeTable<'t>,
    pub(crate) at: usize,
    asked: BTreeSet<&'static str>,
}

impl<'t> FileParser<'t> {
    /// Parses the text as TOML and passes the readable part to `read`.
    pub(crate) fn of<T>(
        text: &'t str,
        file: &str,
        read: impl FnOnce(&mut FileParser<'t>, Fields<'_, 't>) -> T,
    ) -> Result<T, Problems> {
        let mut reading = FileParser { text, problems: Vec::new() };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let at = error.span().map_or(0, |span: Range<usize>| span.start);
            reading.wrong(at, error.message(), None);
        }
        let made = read(&mut reading, Fields { table: table.get_ref(), at: 0, asked: BTreeSet::new() });
        match reading.problems.is_empty() {
            true => Ok(made),
            false => {
                reading.problems.sort_by_key(|problem| problem.line);
                Err(Problems { file: file.to_owned(), problems: reading.problems })
            }
        }
    }

    /// Records a problem at a byte offset.
    pub(crate) fn wrong(&mut self, at: usize, message: impl Into<String>, hint: Option<String>) {
        let before = self.text.as_bytes().get(..at).unwrap_or(self.text.as_bytes());
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        self.problems.push(Problem { line, message: message.into(), hint });
    }

    /// Returns the text of a value; records a problem if it is not a string.
    pub(crate) fn text_of<'d>(&mut self, node: Node<'d, 't>, what: &str) -> Option<&'d str> {
        let text = node.value.as_str();
        if text.is_none() {
            self.wrong(node.at, format!("`{what}` must be a string, not a {}", node.value.type_str()), None);
        }
        text
    }
}

impl<'d, 't> Node<'d, 't> {
    pub(crate) fn as_table(self) -> Option<Fields<'d, 't>> {
        self.value.as_table().map(|table| Fields { table, at: self.at, asked: BTreeSet::new() })
    }

    pub(crate) fn as_str(self) -> Option<&'d str> {
        self.value.as_str()
    }

    pub(crate) fn kind(self) -> &'static str {
        self.value.type_str()
    }

    fn items(self) -> Option<Vec<Node<'d, 't>>> {
        let items = self.value.as_array()?.iter();
        Some(items.map(|item| Node { value: item.get_ref(), at: item.span().start }).collect())
    }
}

impl<'d, 't> Fields<'d, 't> {
    /// Returns every field with its name.
    pub(crate) fn all(&self) -> Vec<(&'d str, Node<'d, 't>)> {
        let fields = self.table.iter();
        fields
            .map(|(name, value)| (name.get_ref().as_ref(), Node { value: value.get_ref(), at: name.span().start }))
            .collect()
    }

    pub(crate) fn get(&mut self, name: &'static str) -> Option<Node<'d, 't>> {
        self.asked.insert(name);
        self.all().into_iter().find(|(known, _)| *known == name).map(|(_, node)| node)
    }

    pub(crate) fn text(&mut self, name: &'static str, reading: &mut FileParser<'t>) -> Option<&'d str> {
        let node = self.get(name)?;
        reading.text_of(node, name)
    }

    /// Returns a required text; records a problem if it is missing.
    pub(crate) fn need(&mut self, name: &'static str, reading: &mut FileParser<'t>) -> Option<&'d str> {
        if self.get(name).is_none() {
            reading.wrong(self.at, format!("`{name}` is missing"), None);
        }
        self.text(name, reading)
    }

    /// Returns a list of texts with their offsets; empty if the field is missing.
    pub(crate) fn texts(&mut self, name: &'static str, reading: &mut FileParser<'t>) -> Vec<(&'d str, usize)> {
        let Some(node) = self.get(name) else { return Vec::new() };
        let Some(items) = node.items() else {
            reading.wrong(
                node.at,
                format!("`{name}` must be a list of strings, not a {}", node.value.type_str()),
                None,
            );
            return Vec::new();
        };
        items.into_iter().filter_map(|item| Some((reading.text_of(item, name)?, item.at))).collect()
    }

    /// Returns a whole number from 0.
    pub(crate) fn whole(&mut self, name: &'static str, reading: &mut FileParser<'t>) -> Option<(u64, usize)> {
        let node = self.get(name)?;
        let number = node
            .value
            .as_integer()
            .and_then(|number| u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok());
        if number.is_none() {
            reading.wrong(node.at, format!("`{name}` must be a whole number from 0"), None);
        }
        number.map(|number| (number, node.at))
    }

    /// Returns a finite number with its offset.
    pub(crate) fn number(&mut self, name: &'static str, reading: &mut FileParser<'t>) -> Option<(f64, usize)> {
        let node = self.get(name)?;
        let text = node
            .value
            .as_float()
            .map(|number| number.as_str())
            .or_else(|| node.value.as_integer().map(|number| number.as_str()));
        let number =
            text.and_then(|text| text.replace('_', "").parse::<f64>().ok()).filter(|number| number.is_finite());
        if number.is_none() {
            reading.wrong(node.at, format!("`{name}` must be a number"), None);
        }
        number.map(|number| (number, node.at))
    }

    /// Returns the tables of a list.
    pub(crate) fn tables(&mut self, name: &'static str, reading: &mut FileParser<'t>) -> Vec<Fields<'d, 't>> {
        let Some(node) = self.get(name) else { return Vec::new() };
        let tables: Option<Vec<_>> = node.items().and_then(|items| items.into_iter().map(Node::as_table).collect());
        tables.unwrap_or_else(|| {
            reading.wrong(node.at, format!("`{name}` must be a list of tables"), Some(format!("write `[[{name}]]`")));
            Vec::new()
        })
    }

    /// Returns a table, if the field is present.
    pub(crate) fn table(&mut self, name: &'static str, reading: &mut FileParser<'t>) -> Option<Fields<'d, 't>> {
        let node = self.get(name)?;
        let table = node.as_table();
        if table.is_none() {
            reading.wrong(node.at, format!("`{name}` must be a table"), Some(format!("write `[{name}]`")));
        }
        table
    }

    /// Reports every field that was not requested as unknown.
    pub(crate) fn finish(self, reading: &mut FileParser<'t>) {
        for (name, node) in self.all().into_iter().filter(|(name, _)| !self.asked.contains(name)) {
            let known: Vec<_> = self.asked.iter().copied().collect();
            reading.wrong(node.at, format!("`{name}` is not known"), nearest(name, &known));
        }
    }
}

/// Returns a hint with the nearest known word, or with all of them.
pub(crate) fn nearest(word: &str, known: &[&str]) -> Option<String> {
    interlock_suggest::did_you_mean(word, known.iter().copied())
        .or_else(|| Some(format!("the keys are {}", known.join(", "))))
}

//! The border of a machine: checks that everything it refers to outside exists and fits.
//!
//! The exploration takes every activity for granted. This module checks the names, the fields of `with`, prompts,
//! schemas, commands and sub-machines against a catalogue of the activities, the files of the machine and the machines
//! that it starts. The caller passes all of that as data ([`Outside`]): this crate opens no file and knows no activity.

mod activity;
mod children;
mod command;
mod files;
mod given;
mod shape;
mod steps;
mod waits;
mod writers;

use std::{collections::BTreeMap, sync::Arc};

use interlock_chart::{
    Catalogue, Chart, Diagnostic, Value,
    catalogue::{Entry, Meaning},
    model::{Invoke, Template},
};

pub use children::{Child, Started, children};

/// The world outside of a machine, as far as it is known before a run.
#[derive(Clone, Copy, Debug)]
pub struct Outside<'a> {
    /// The catalogue of the available activities.
    pub catalogue: &'a Catalogue,
    /// The machine's files besides `machine.yaml`, by path within its directory.
    pub files: &'a [(String, Vec<u8>)],
    /// The machines that [`children`] names, by that name.
    pub children: &'a BTreeMap<String, Child>,
}

impl Outside<'_> {
    /// The check results of the machine that an activity starts, if it starts a known machine.
    pub(crate) fn started(&self, invoke: &Invoke) -> Option<&Started> {
        let entry = self.catalogue.get(&invoke.activity)?;
        let (_, name) = texts(invoke, entry, Meaning::Machine).next()?;
        match self.children.get(name)? {
            Child::Known(started) => Some(started),
            Child::Missing { .. } | Child::Recursive(_) => None,
        }
    }

    fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.iter().find(|(known, _)| known == path).map(|(_, content)| content.as_slice())
    }
}

/// Reports everything that does not fit the world outside, in the order of the file.
pub fn border(chart: &Arc<Chart>, outside: &Outside<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for invoke in &chart.invokes {
        let Some(entry) = activity::known(invoke, outside.catalogue, &mut found) else { continue };
        activity::signals(chart, invoke, entry, &mut found);
        given::check(invoke, entry, &mut found);
        files::check(invoke, entry, outside, &mut found);
        command::check(invoke, entry, &mut found);
        waits::check(chart, invoke, entry, &mut found);
        children::check(invoke, entry, outside, &mut found);
    }
    activity::fields(chart, outside, &mut found);
    writers::check(chart, outside, &mut found);
    steps::check(chart, &mut found);
    found.sort_by(|a, b| (a.span.start, a.code, &a.message).cmp(&(b.span.start, b.code, &b.message)));
    found.dedup();
    found
}

/// A field of the activity's `with`; `None` if it is missing or null.
fn field<'i>(invoke: &'i Invoke, name: &str) -> Option<Field<'i>> {
    match &invoke.with {
        Template::Map(fields) => {
            let (_, value) = fields.iter().find(|(known, _)| known == name)?;
            Some(Field::Template(value)).filter(|_| *value != Template::Literal(Value::Null))
        }
        Template::Literal(Value::Map(fields)) => {
            fields.get(name).filter(|value| **value != Value::Null).map(Field::Literal)
        }
        _ => None,
    }
}

/// A field's value: literal as a whole, or with expressions in it.
#[derive(Clone, Copy)]
enum Field<'i> {
    Literal(&'i Value),
    Template(&'i Template),
}

impl<'i> Field<'i> {
    /// The text, if the field is literal.
    fn text(self) -> Option<&'i str> {
        match self {
            Field::Literal(value) | Field::Template(Template::Literal(value)) => value.as_str(),
            Field::Template(_) => None,
        }
    }
}

/// The literal texts of the fields with the given meaning.
fn texts<'i>(invoke: &'i Invoke, entry: &'i Entry, meaning: Meaning) -> impl Iterator<Item = (&'i str, &'i str)> {
    entry.meaning(meaning).filter_map(|name| Some((name, field(invoke, name)?.text()?)))
}

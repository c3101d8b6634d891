//! Two activities that write the same directory at the same time.
//!
//! The changes of the two cannot be told apart, so neither could be undone after a crash. They may be active together
//! only if each has a separate directory and its sandbox prevents writes outside of it.

use std::path::{Component, Path};

use interlock_chart::{
    Chart, Diagnostic,
    catalogue::{Entry, Meaning},
    model::{EffectClass, Invoke, Kind, StateId},
};

use super::{Outside, field, texts};

/// An activity that may write, with the directory it may write to.
struct Writer<'c> {
    invoke: &'c Invoke,
    /// The directory it is confined to; `None` if it may write anywhere in the workspace.
    folder: Option<&'c str>,
}

/// Reports activities that may write to the same place at the same time.
pub(super) fn check(chart: &Chart, outside: &Outside<'_>, found: &mut Vec<Diagnostic>) {
    let writers: Vec<Writer<'_>> = chart.invokes.iter().filter_map(|invoke| writer(invoke, outside)).collect();
    for (at, second) in writers.iter().enumerate() {
        let clash = |first: &&Writer<'_>| {
            together(chart, first.invoke.state, second.invoke.state) && !are_apart(first.folder, second.folder)
        };
        let Some(first) = writers[..at].iter().find(clash) else { continue };
        let state = |writer: &Writer<'_>| chart.state(writer.invoke.state).name.clone();
        let message = format!(
            "`{}` in `{}` and `{}` in `{}` can write the workspace at the same time",
            first.invoke.activity,
            state(first),
            second.invoke.activity,
            state(second),
        );
        let hint = "let one follow the other, give each `command.run` its own `with: { folder: … }`, or declare `effect: read` for one \
                    that changes nothing";
        let problem = Diagnostic::error("E0711", second.invoke.span, message).hint(hint);
        found.push(problem.related(first.invoke.span, "the other one is here"));
    }
}

fn writer<'c>(invoke: &'c Invoke, outside: &Outside<'c>) -> Option<Writer<'c>> {
    let entry = outside.catalogue.get(&invoke.activity)?;
    let child_writes = || outside.started(invoke).is_some_and(|started| started.writes);
    let effect = invoke.effect.unwrap_or(entry.effect);
    (effect == EffectClass::Write || child_writes()).then(|| Writer { invoke, folder: own_folder(invoke, entry) })
}

/// Returns the only directory that an activity may write to, if it names one and asks for no other write access.
fn own_folder<'c>(invoke: &'c Invoke, entry: &'c Entry) -> Option<&'c str> {
    let is_wider = ["sandbox", "write"].iter().any(|name| field(invoke, name).is_some());
    let folder = texts(invoke, entry, Meaning::OwnFolder).next().map(|(_, folder)| folder);
    folder.filter(|_| !is_wider)
}

/// Returns true if neither of two directories of a workspace contains the other.
fn are_apart(one: Option<&str>, two: Option<&str>) -> bool {
    let (Some(one), Some(two)) = (one, two) else { return false };
    let parts = |path: &'_ str| -> Option<Vec<String>> {
        let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
        let name = |part: Component<'_>| match part {
            Component::Normal(name) => name.to_str().map(str::to_owned),
            _ => None,
        };
        parts.map(name).collect()
    };
    match (parts(one), parts(two)) {
        (Some(one), Some(two)) => !one.starts_with(&two) && !two.starts_with(&one),
        _ => false,
    }
}

/// Returns true if both states can be active at once, as far as the hierarchy shows.
fn together(chart: &Chart, one: StateId, two: StateId) -> bool {
    if one == two || chart.is_descendant(one, two) || chart.is_descendant(two, one) {
        return true;
    }
    let meeting = chart.ancestors(one).find(|ancestor| chart.is_descendant(two, *ancestor));
    meeting.is_some_and(|meeting| chart.state(meeting).kind == Kind::Parallel)
}

/// Returns true if a machine writes its workspace.
pub(super) fn writes(chart: &Chart, outside: &Outside<'_>) -> bool {
    chart.invokes.iter().any(|invoke| writer(invoke, outside).is_some())
}

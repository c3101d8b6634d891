//! Two activities that write the same folder at the same time.
//!
//! What one of them has changed cannot be told from what the other has, so neither could be taken back after a crash. They may be active
//! together only if each has a folder of its own, outside of which its sandbox lets it write nothing.

use std::path::{Component, Path};

use interlock_chart::{
    Chart, Diagnostic,
    catalogue::{Entry, Meaning},
    model::{Effect, Invoke, Kind, StateId},
};

use super::{Outside, field, texts};

/// An activity that may write, and where.
struct Writer<'c> {
    invoke: &'c Invoke,
    /// Its own folder; nothing if it may write anywhere in the workspace.
    folder: Option<&'c str>,
}

/// Complains about activities that may write in one place at one time.
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
        let hint = "let one follow the other, give each `command.run` its own `with: { folder: … }`, or say `effect: read` of one \
                    that changes nothing";
        let problem = Diagnostic::error("E0711", second.invoke.span, message).hint(hint);
        found.push(problem.related(first.invoke.span, "the other one is here"));
    }
}

fn writer<'c>(invoke: &'c Invoke, outside: &Outside<'c>) -> Option<Writer<'c>> {
    let entry = outside.catalogue.get(&invoke.activity)?;
    let child_writes = || outside.started(invoke).is_some_and(|started| started.writes);
    let effect = invoke.effect.unwrap_or(entry.effect);
    (effect == Effect::Write || child_writes()).then(|| Writer { invoke, folder: own_folder(invoke, entry) })
}

/// The folder that is all an activity may write, if it says one and asks for nothing more.
fn own_folder<'c>(invoke: &'c Invoke, entry: &'c Entry) -> Option<&'c str> {
    let is_wider = ["sandbox", "write"].iter().any(|name| field(invoke, name).is_some());
    let folder = texts(invoke, entry, Meaning::OwnFolder).next().map(|(_, folder)| folder);
    folder.filter(|_| !is_wider)
}

/// Whether two folders of one workspace have nothing in common.
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

/// Whether both states can be active at once, as far as the hierarchy goes.
fn together(chart: &Chart, one: StateId, two: StateId) -> bool {
    if one == two || chart.is_descendant(one, two) || chart.is_descendant(two, one) {
        return true;
    }
    let meeting = chart.ancestors(one).find(|ancestor| chart.is_descendant(two, *ancestor));
    meeting.is_some_and(|meeting| chart.state(meeting).kind == Kind::Parallel)
}

/// Whether a machine writes its workspace.
pub(super) fn writes(chart: &Chart, outside: &Outside<'_>) -> bool {
    chart.invokes.iter().any(|invoke| writer(invoke, outside).is_some())
}

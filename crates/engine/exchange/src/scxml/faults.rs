//! In SCXML every active state receives `error.execution`. In a machine file the error belongs to the state that
//! failed. So the handlers of a foreign document also name the states of other regions that can fail.

use interlock_chart::file::{KindFile, MachineFile, OnFile, Ordered, StateFile, TransitionFile};

/// Descriptors that match `error.execution`.
const TAKERS: &[&str] =
    &["*", "error", "error.", "error.*", "error.execution", "error.execution.", "error.execution.*"];

struct Line {
    name: String,
    /// The state's position and those of its ancestors, innermost first.
    path: Vec<usize>,
    is_parallel: bool,
    can_fail: bool,
}

/// Extends every handler of `error.execution` to the errors of parallel regions, as in SCXML.
pub(super) fn hear_everywhere(file: &mut MachineFile) {
    let is_parallel = file.kind == Some(KindFile::Parallel);
    let mut lines = vec![Line { name: String::new(), path: vec![0], is_parallel, can_fail: false }];
    file.states.iter().for_each(|(name, state)| outline(name, state, &[0], &mut lines));
    if lines.iter().any(|line| line.is_parallel) {
        let mut at = 0;
        file.states.values_mut().for_each(|state| widen(state, &lines, &mut at));
    }
}

fn outline(name: &str, state: &StateFile, around: &[usize], lines: &mut Vec<Line>) {
    let path: Vec<usize> = std::iter::once(lines.len()).chain(around.iter().copied()).collect();
    let can_fail = state.entry.is_some() || state.exit.is_some() || state.on.is_some() || state.always.is_some();
    let is_parallel = state.kind == Some(KindFile::Parallel);
    lines.push(Line { name: name.to_owned(), path: path.clone(), is_parallel, can_fail });
    state.states.iter().for_each(|(name, state)| outline(name, state, &path, lines));
}

fn widen(state: &mut StateFile, lines: &[Line], at: &mut usize) {
    *at += 1;
    if let Some(on) = state.on.take_if(|on| takes_faults(on)) {
        state.on = Some(with_faults(on, &faults_beside(&lines[*at], lines)));
    }
    state.states.values_mut().for_each(|state| widen(state, lines, at));
}

/// Returns the errors of states that can be active together with this one in other regions.
fn faults_beside(own: &Line, lines: &[Line]) -> Vec<String> {
    let beside = |other: &&Line| {
        let is_in_line = other.path.contains(&own.path[0]) || own.path.contains(&other.path[0]);
        let meeting = own.path.iter().find(|around| other.path.contains(around));
        other.can_fail && !is_in_line && meeting.is_some_and(|&meeting| lines[meeting].is_parallel)
    };
    lines.iter().filter(beside).map(|line| format!("{}.error.execution", line.name)).collect()
}

fn takes_faults(on: &OnFile) -> bool {
    let body = |one: &TransitionFile| match one {
        TransitionFile::Full(body) => body.event.as_deref().is_some_and(is_taker),
        _ => false,
    };
    match on {
        OnFile::Map(map) => map.keys().any(|key| is_taker(key)),
        OnFile::List(list) => list.iter().any(body),
    }
}

fn is_taker(events: &str) -> bool {
    events.split_whitespace().any(|event| TAKERS.contains(&event))
}

fn with_faults(on: OnFile, faults: &[String]) -> OnFile {
    match on {
        OnFile::Map(map) => {
            OnFile::Map(map.into_iter().map(|(key, value)| (widened(key, faults), value)).collect::<Ordered<_>>())
        }
        OnFile::List(list) => OnFile::List(list.into_iter().map(|one| listed(one, faults)).collect()),
    }
}

fn listed(transition: TransitionFile, faults: &[String]) -> TransitionFile {
    match transition {
        TransitionFile::Full(mut body) => {
            body.event = body.event.take().map(|event| widened(event, faults));
            TransitionFile::Full(body)
        }
        other => other,
    }
}

fn widened(events: String, faults: &[String]) -> String {
    if is_taker(&events) && !faults.is_empty() {
        return format!("{events} {}", faults.join(" "));
    }
    events
}

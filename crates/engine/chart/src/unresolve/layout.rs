//! The layout of transitions and blocks in a machine file: the shortest form that keeps their order.

use std::collections::BTreeSet;

use crate::file::{
    ActionFile, BlocksFile, HistoryFile, InitialFile, KindFile, OnFile, OneOrMany, Ordered, StateFile, TransitionBody,
    TransitionFile,
};

/// Returns a single item bare and several items as a list, or `None` if there are no items.
pub fn one_or_many<T>(mut items: Vec<T>) -> Option<OneOrMany<T>> {
    match items.len() {
        0 => None,
        1 => items.pop().map(OneOrMany::One),
        _ => Some(OneOrMany::Many(items)),
    }
}

/// Returns the blocks without the empty ones.
pub fn blocks(blocks: Vec<Vec<ActionFile>>) -> Option<BlocksFile> {
    let mut blocks: Vec<_> = blocks.into_iter().filter(|block| !block.is_empty()).collect();
    match blocks.len() {
        0 => None,
        1 => blocks.pop().map(|mut block| match block.len() {
            1 => block.pop().map_or(BlocksFile::Block(Vec::new()), BlocksFile::One),
            _ => BlocksFile::Block(block),
        }),
        _ => Some(BlocksFile::Blocks(blocks)),
    }
}

/// Returns a state's initial transition, with or without actions.
pub fn initial(targets: Vec<String>, actions: Vec<ActionFile>) -> Option<InitialFile> {
    let target = one_or_many(targets)?;
    Some(match one_or_many(actions) {
        None => InitialFile::Target(target),
        Some(actions) => InitialFile::Full { target, actions },
    })
}

/// Returns a history state. Its default transition is written under `target`, or under `initial` if it has actions.
pub fn history(deep: bool, targets: Vec<String>, actions: Vec<ActionFile>) -> StateFile {
    let mut state = StateFile { kind: Some(KindFile::History), ..StateFile::default() };
    state.history = deep.then_some(HistoryFile::Deep);
    if actions.is_empty() {
        state.target = one_or_many(targets);
    } else {
        state.initial = initial(targets, actions);
    }
    state
}

/// Returns a transition as its target's name alone if it has nothing else.
pub fn transition(body: TransitionBody) -> TransitionFile {
    if let Some(OneOrMany::One(target)) = &body.target {
        let bare = TransitionBody { target: body.target.clone(), ..TransitionBody::default() };
        if bare == body {
            return TransitionFile::Target(target.clone());
        }
    }
    TransitionFile::Full(Box::new(body))
}

/// Returns transitions without an event.
pub fn always(bodies: Vec<TransitionBody>) -> Option<OneOrMany<TransitionFile>> {
    one_or_many(bodies.into_iter().map(transition).collect())
}

/// Returns transitions with their descriptors in order. The form is a map if each transition has one descriptor and
/// equal descriptors are adjacent, else a list.
pub fn on(transitions: Vec<(Vec<String>, TransitionBody)>) -> Option<OnFile> {
    if transitions.is_empty() {
        return None;
    }
    if needs_a_list(&transitions) {
        let listed = |(events, body): (Vec<String>, TransitionBody)| {
            TransitionFile::Full(Box::new(TransitionBody { event: Some(events.join(" ")), ..body }))
        };
        return Some(OnFile::List(transitions.into_iter().map(listed).collect()));
    }
    let mut map: Ordered<Vec<TransitionFile>> = Ordered::new();
    for (events, body) in transitions {
        map.entry(events.concat()).or_default().push(transition(body));
    }
    let entries = map.into_iter().filter_map(|(event, list)| Some((event, one_or_many(list)?)));
    Some(OnFile::Map(entries.collect()))
}

/// Returns true if a map by descriptor would lose the order of these transitions or their descriptors.
pub fn needs_a_list(transitions: &[(Vec<String>, TransitionBody)]) -> bool {
    !keeps_order(transitions.iter().map(|(events, _)| events.as_slice()))
}

/// Returns true if each transition has one descriptor and equal descriptors are adjacent.
pub fn keeps_order<'a>(transitions: impl IntoIterator<Item = &'a [String]>) -> bool {
    let mut seen = BTreeSet::new();
    let mut last = None;
    transitions.into_iter().all(|events| {
        let [event] = events else { return false };
        let together = last == Some(event) || seen.insert(event);
        last = Some(event);
        together
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(target: &str) -> TransitionBody {
        TransitionBody { target: Some(OneOrMany::One(target.to_owned())), ..TransitionBody::default() }
    }

    fn check(transitions: &[(&str, &str)], expected: &str) {
        let transitions = transitions
            .iter()
            .map(|(events, target)| (events.split(' ').map(str::to_owned).collect(), to(target)))
            .collect();
        assert_eq!(serde_json::to_string(&on(transitions)).unwrap(), expected);
    }

    #[test]
    fn the_shortest_form_that_keeps_the_order_is_used() {
        check(&[], "null");
        check(&[("a", "x"), ("b", "y")], r#"{"a":"x","b":"y"}"#);
        check(&[("a", "x"), ("a", "y")], r#"{"a":["x","y"]}"#);
        check(
            &[("a", "x"), ("b", "y"), ("a", "z")],
            r#"[{"event":"a","target":"x"},{"event":"b","target":"y"},{"event":"a","target":"z"}]"#,
        );
        check(&[("a b", "x")], r#"[{"event":"a b","target":"x"}]"#);
    }
}

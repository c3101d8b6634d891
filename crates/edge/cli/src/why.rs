//! Describes a move: in one line, or with its full explanation.

use interlock_chart::counted;
use interlock_journal::moment;
use interlock_runtime::{EndedActivity, Move, RefusedMove};
use serde_json::{Map, Value as Json};

use crate::{follow, output::Output};

/// Formats the moves of a record, one line each: `12:00:00  testing → changing  failed  2 tests failed`. Regions that one
/// event moves together share a line. The end of a region that no transition waits for has none.
pub(crate) fn lines(moves: &[Move]) -> Vec<String> {
    let is_told =
        |step: &&Move| step.taken || !step.event.as_ref().is_some_and(|event| event.starts_with("done.state."));
    let mut shown: Vec<Move> = Vec::new();
    for step in moves.iter().filter(is_told) {
        match shown.last_mut() {
            Some(last) if is_together(last, step) => {
                let both = |one: &mut Option<String>, other: &Option<String>, between: &str| match (one, other) {
                    (Some(one), Some(other)) if one != other => one.push_str(&format!("{between}{other}")),
                    (one @ None, Some(other)) => *one = Some(other.clone()),
                    _ => {}
                };
                both(&mut last.from_state, &step.from_state, ", ");
                both(&mut last.reason, &step.reason, "; ");
            }
            _ => shown.push(step.clone()),
        }
    }
    shown.iter().map(line).collect()
}

/// Returns true if one event moved both regions at once.
fn is_together(one: &Move, other: &Move) -> bool {
    let is_same = one.seq == other.seq && one.event == other.event && one.to_state == other.to_state;
    is_same && one.taken && other.taken && one.to_state.as_ref().is_some_and(|to| to.contains(", "))
}

fn line(step: &Move) -> String {
    let way = way(step);
    let event = step.event.as_deref().unwrap_or(if step.from_state.is_none() { "start" } else { "always" });
    // A fault explains why nothing moved, or what moved instead.
    let reason = step.reason.clone().unwrap_or_else(|| step.faults.join("; ")).replace('\n', " ");
    format!("{}  {way}  {event}  {reason}", moment::clock(step.at_ms)).trim_end().to_owned()
}

/// Formats the source and the target of a move.
pub(crate) fn way(step: &Move) -> String {
    match (&step.from_state, &step.to_state) {
        _ if !step.taken => "not taken".to_owned(),
        (None, Some(to)) => format!("→ {to}"),
        (Some(from), Some(to)) => match step.activity.as_ref().filter(|ended| ended.state != *from) {
            // A handler of an outer state took it: the state of the activity is more precise.
            Some(ended) => format!("{} → {to}", ended.state),
            None => format!("{from} → {to}"),
        },
        (Some(from), None) => format!("{from} stays"),
        (None, None) => "nothing moves".to_owned(),
    }
}

/// Explains a move: event, sender, guard, refused candidates, counters, evidence.
pub(crate) fn explain(step: &Move, output: &Output) -> String {
    let mut text = format!("{:>5}  {}  {}\n", step.seq, moment::clock(step.at_ms), output.bold(&way(step)));
    for (label, words) in details(step) {
        let words = if label == "evidence" { shortened(&words) } else { words };
        text.push_str(&format!("{:17}{label:<9} {}\n", "", words.replace('\n', "\n                           ")));
    }
    text
}

/// Formats a file's name with the command that prints it; the hash is shortened to the digits that `interlock evidence`
/// needs.
fn shortened(evidence: &str) -> String {
    const DIGITS: usize = 12;
    let (name, hash) = evidence.rsplit_once(' ').unwrap_or(("file", evidence));
    format!("{name} (`interlock evidence {}`)", &hash[..hash.len().min(DIGITS)])
}

/// Returns the labelled parts of a move's explanation. Evidence is a name and a hash.
pub(crate) fn details(step: &Move) -> Vec<(&'static str, String)> {
    let mut details = vec![("event", event(step))];
    details.extend(step.activity.as_ref().map(|ended| ("activity", activity(ended))));
    details.extend(step.judge.as_ref().map(|note| ("judge", follow::judge_words(note))));
    details.extend(step.unproved.as_ref().map(|refusals| ("unproved", unproved(refusals))));
    details.extend(step.reason.clone().map(|reason| ("reason", reason)));
    details.extend(step.guard.as_ref().map(|guard| ("guard", format!("`{guard}` is true{}", values(&step.values)))));
    details.extend(step.refused.iter().map(|refused| ("refused", candidate(refused))));
    details.extend(step.counters.iter().map(|counted| {
        ("counter", format!("{} {} → {} of {}", counted.counter, counted.before, counted.after, counted.max))
    }));
    details.extend(step.iteration_index.map(|index| ("iteration", index.to_string())));
    let names = step.evidence_names.iter().map(String::as_str).chain(std::iter::repeat("file"));
    details.extend(step.evidence_refs.iter().zip(names).map(|(hash, name)| ("evidence", format!("{name} {hash}"))));
    details.extend(step.faults.iter().map(|fault| ("fault", fault.clone())));
    details.extend(step.log.iter().map(|line| ("log", line.clone())));
    details
}

/// Describes a run that was started with `--unproved`, with the reasons for which `check` refuses the machine.
pub(crate) fn unproved(refusals: &[String]) -> String {
    match refusals {
        [] => "started with --unproved; `check` has no objection to the machine itself".to_owned(),
        refusals => format!("started with --unproved; `check` refuses the machine: {}", refusals.join("; ")),
    }
}

fn activity(ended: &EndedActivity) -> String {
    let EndedActivity { name, state, attempt } = ended;
    match attempt {
        0 => format!("{name} in {state}, answered by a person"),
        1 => format!("{name} in {state}"),
        attempt => format!("{name} in {state}, attempt {attempt}"),
    }
}

fn event(step: &Move) -> String {
    let by = step.by.as_ref().map(|by| format!(" by {} {}", by.kind.word(), by.name)).unwrap_or_default();
    let data = match &step.data {
        Json::Null => String::new(),
        data if data.as_object().is_some_and(|fields| fields.is_empty()) => String::new(),
        data => format!(" {}", cut(data)),
    };
    match (&step.event, &step.from_state) {
        (Some(event), _) => format!("{event}{by}{data}"),
        (None, None) => format!("the run started{by}"),
        (None, Some(_)) => "none: the transition was enabled as soon as its state was entered".to_owned(),
    }
}

/// Formats the data of an event. Long fields are replaced by their size and their keys; `trace --json` has them whole.
fn cut(data: &Json) -> String {
    let Some(fields) = data.as_object() else { return cut_field(data) };
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}:{}", Json::from(name.as_str()), cut_field(value))).collect();
    format!("{{{}}}", fields.join(","))
}

fn cut_field(value: &Json) -> String {
    const BYTES_MAX: usize = 400;
    const TEXT_BYTES_MAX: usize = 2_000;
    const KEYS_MAX: usize = 12;
    let text = value.to_string();
    if text.len() <= if value.is_string() { TEXT_BYTES_MAX } else { BYTES_MAX } {
        return text;
    }
    let bytes = text.len();
    match value {
        Json::Object(fields) => {
            let names: Vec<&str> = fields.keys().take(KEYS_MAX).map(String::as_str).collect();
            let more = if fields.len() > names.len() { ", …" } else { "" };
            format!("{{… {bytes} bytes: {}{more}}}", names.join(", "))
        }
        Json::Array(items) => format!("[… {bytes} bytes: {}]", counted(items.len() as u64, "item", "items")),
        Json::String(words) => {
            let shown: String = words.chars().take(TEXT_BYTES_MAX).collect();
            format!("{} (… {bytes} bytes)", Json::from(shown))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => text,
    }
}

fn candidate(refused: &RefusedMove) -> String {
    let target = refused.target.as_deref().unwrap_or("stays");
    format!("{} → {target}: {}{}", refused.state, refused.why, values(&refused.values))
}

/// Formats the values that a guard read: ` (event.minutes = 11)`.
fn values(values: &Map<String, Json>) -> String {
    let words: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::cut;

    #[test]
    fn long_fields_are_replaced_by_their_size_and_keys() {
        let memory = json!({ "effects": "x".repeat(500), "focus": "" });
        let data = json!({ "done": true, "memory": memory, "list": vec!["word"; 100], "why": "short" });
        let expected = "{\"done\":true,\"memory\":{… 525 bytes: effects, focus},\"list\":[… 701 bytes: 100 items],\"why\":\"short\"}";
        assert_eq!(cut(&data), expected);
        assert!(cut(&json!({ "text": "y".repeat(3_000) })).ends_with("yyy\" (… 3002 bytes)}"));
        assert_eq!(cut(&json!("word")), "\"word\"");
    }
}

//! Describes the input that a run waits for, with the exact commands to answer.

use interlock_runtime::{ByHand, GrantOffer, Offer, Offers, OpenQuestion};
use serde_json::{Map, Value as Json, json};

use crate::{about, follow::Follower, overdue, sample::sample};

/// The length of the longest `with` of an activity that is shown in full.
const WITH_LENGTH_MAX: usize = 400;

/// The length of the longest question that is shown in full.
const QUESTION_LENGTH_MAX: usize = 2_000;

/// Describes the input that a run waits for, which may be the input of a child run.
pub(crate) fn text_for(follower: &Follower, asking: &Follower) -> String {
    let (run, child) = (&follower.head.name, &asking.head.name);
    match run == child {
        true => text(follower),
        false => format!(
            "{run} waits for its child run {child}, which waits for a person.\n{}Then continue with `interlock resume {run}`.\n",
            text(asking)
        ),
    }
}

/// Describes the inputs that a run waits for, one per paragraph.
pub(crate) fn text(follower: &Follower) -> String {
    let (run, offers) = (follower.head.name.as_str(), follower.offers());
    if follower.live.state.is_paused() {
        return format!(
            "{run} is paused. Continue or abort it with:\n    interlock resume {run}\n    interlock abort {run}\n"
        );
    }
    let place = follower.live.place();
    let mut text = format!("{run} waits in {place}. To answer:\n");
    offers.by_hand.iter().for_each(|by_hand| text.push_str(&in_place_of(run, by_hand)));
    if let Some(grant) = &offers.grant {
        text.push_str(&format!("    {}  # Grant this once and send {}\n", grant_command(run, grant), grant.event));
    }
    for offer in &offers.events {
        text.push_str(&line(run, &offer.event, &offer.summary, &sample(&offer.data)));
    }
    if offers.events.is_empty() && offers.by_hand.is_empty() {
        text = format!("{run} waits in {place} for an event that no person can send\n");
    }
    text + &overdue::sentence(&follower.live, follower.now_ms())
}

/// Describes an activity that is not installed or that a person must judge, with the commands that report its result.
fn in_place_of(run: &str, by_hand: &ByHand) -> String {
    let ByHand { activity, state, with, signals, question, left, .. } = by_hand;
    let mut text = match (left, question) {
        (Some(why), _) => format!("  {state} invokes {activity}, which a person must answer: {why}\n"),
        (None, Some(_)) => format!("  {state} invokes {activity}, which a person answers\n"),
        (None, None) => {
            format!("  {state} invokes {activity}, which is not installed. Report its result yourself:\n")
        }
    };
    if let Some(question) = question {
        shortened(question, QUESTION_LENGTH_MAX).lines().for_each(|line| text.push_str(&format!("    | {line}\n")));
    }
    if with.as_object().is_none_or(|fields| !fields.is_empty()) {
        text.push_str(&format!("    its arguments are {}\n", shortened(&with.to_string(), WITH_LENGTH_MAX)));
    }
    for Offer { event, summary, data, .. } in signals {
        text.push_str(&line(run, event, summary, &sample(data)));
    }
    let failed = json!({ "code": "FAILED", "message": "…" });
    text + &line(run, "error", "It failed", &failed)
}

fn line(run: &str, event: &str, summary: &str, data: &Json) -> String {
    let said = if summary.is_empty() { String::new() } else { format!("  # {summary}") };
    format!("    {}{said}\n", command(run, event, data))
}

/// Returns the command that grants the permissions that a run waits for, once.
pub(crate) fn grant_command(run: &str, offer: &GrantOffer) -> String {
    let quoted: Vec<String> = offer.scopes.iter().map(|scope| format!("'{}'", scope.replace('\'', "'\\''"))).collect();
    format!("interlock grant {run} {}", quoted.join(" "))
}

/// Returns the command that sends an event with data.
pub(crate) fn command(run: &str, event: &str, data: &Json) -> String {
    match data.as_object().is_some_and(|fields| fields.is_empty()) {
        true => format!("interlock send {run} {event}"),
        // A quote within a quoted string ends the string, adds an escaped quote, and begins the string again.
        false => format!("interlock send {run} {event} --data '{}'", data.to_string().replace('\'', "'\\''")),
    }
}

fn shortened(text: &str, length_max: usize) -> String {
    match text.char_indices().nth(length_max) {
        Some((at, _)) => format!("{}… (complete with `interlock show --json`)", &text[..at]),
        None => text.to_owned(),
    }
}

/// Describes a question that a running attempt asks, with the commands that answer it.
pub(crate) fn question(run: &str, offers: &Offers, question: &OpenQuestion) -> String {
    let mut text = about::of_question(run, question);
    text.push_str(&format!("To answer until {}, from any terminal:\n", question.until));
    let offer = offers.events.iter().find(|offer| offer.event == question.event);
    let summary = offer.map(|offer| offer.summary.as_str()).unwrap_or_default();
    for data in answers(offer.map_or(&Json::Null, |offer| &offer.data), &question.id) {
        text.push_str(&line(run, &question.event, summary, &data));
    }
    text
}

/// Returns examples of an answer: one per choice if a required field has choices, otherwise one.
fn answers(schema: &Json, id: &str) -> Vec<Json> {
    let mut data = match sample(schema) {
        Json::Object(fields) => fields,
        _ => Map::new(),
    };
    data.insert("id".to_owned(), json!(id));
    let choices = data.keys().find_map(|name| Some((name.clone(), schema["properties"][name]["enum"].as_array()?)));
    let Some((name, values)) = choices else { return vec![Json::Object(data)] };
    let answer = |value: &Json| {
        let mut data = data.clone();
        data.insert(name.clone(), value.clone());
        Json::Object(data)
    };
    values.iter().map(answer).collect()
}

/// Returns the inputs that a run waits for as JSON.
pub(crate) fn json(follower: &Follower) -> Json {
    let (run, offers) = (follower.head.name.as_str(), follower.offers());
    let Offers { events, by_hand, .. } = &offers;
    let signals = by_hand.iter().flat_map(|by_hand| by_hand.signals.iter().map(move |offer| (Some(by_hand), offer)));
    let all = signals.chain(events.iter().map(|offer| (None, offer)));
    let answers = all.map(|(by_hand, offer)| {
        json!({
            "event": offer.event,
            "summary": offer.summary,
            "activity": by_hand.map(|by_hand| &by_hand.activity),
            "with": by_hand.map(|by_hand| &by_hand.with),
            "question": by_hand.and_then(|by_hand| by_hand.question.as_ref()),
            "left": by_hand.and_then(|by_hand| by_hand.left.as_ref()),
            "schema": offer.data,
            "irreversible": offer.irreversible,
            "command": command(run, &offer.event, &sample(&offer.data)),
        })
    });
    Json::Array(answers.collect())
}

/// Returns the permissions that can be granted as JSON.
pub(crate) fn grant_json(follower: &Follower) -> Option<Json> {
    let offer = follower.offers().grant?;
    let command = grant_command(&follower.head.name, &offer);
    Some(json!({ "scopes": offer.scopes, "event": offer.event, "state": offer.state, "command": command }))
}

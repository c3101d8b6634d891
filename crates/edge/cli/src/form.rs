//! The form on the terminal: a menu of the actions that a run accepts, then the data of the chosen event, field by
//! field.
//!
//! No irreversible action is preselected. The menu starts on "nothing now" unless every offered event is harmless; a
//! field of choices starts on an item that chooses nothing; a yes is always typed.

mod editor;
mod field;
mod fill;

pub(crate) use editor::end as end_editor;

use std::collections::BTreeMap;

use inquire::{InquireError, Select};
use interlock_runtime::{GrantOffer, Offer, Offers};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::synonym::stands_for;

/// The first item of the menu.
const LATER: &str = "nothing now";

/// The answer that a person gave in the form.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FormAnswer {
    /// Send this event with this data.
    Event(String, Json),
    /// Grant the permissions that the run waits for, once.
    Grant(GrantOffer),
}

/// An item of the menu below [`LATER`].
enum Item<'o> {
    /// Grant the permissions that the run waits for.
    Grant(&'o GrantOffer),
    /// Report the result of an activity.
    Report(&'o Offer),
    /// Send an event that the run accepts.
    Send(&'o Offer),
}

/// Asks the person. Returns `None` if they do not want to answer now. Escape within a field returns to the menu and
/// keeps the typed text.
pub(crate) fn ask(place: &str, offers: &Offers) -> Option<FormAnswer> {
    let failed = failed();
    let items = items(offers, &failed);
    let mut drafts: BTreeMap<usize, Json> = BTreeMap::new();
    loop {
        let (at, offer) = match choose(place, &items).ok()?? {
            (_, Item::Grant(offer)) => return Some(FormAnswer::Grant((*offer).clone())),
            (at, Item::Report(offer) | Item::Send(offer)) => (at, offer),
        };
        let draft = drafts.entry(at).or_insert_with(|| json!({}));
        match fill::data(&offer.data, draft) {
            Ok(()) => return Some(FormAnswer::Event(offer.event.clone(), draft.take())),
            Err(InquireError::OperationCanceled) => {}
            Err(_) => return None,
        }
    }
}

fn items<'o>(offers: &'o Offers, failed: &'o Offer) -> Vec<Item<'o>> {
    let grant = offers.grant.iter().map(Item::Grant);
    let signals = offers.by_hand.iter().flat_map(|by_hand| by_hand.signals.iter().chain([failed])).map(Item::Report);
    grant.chain(signals).chain(offers.events.iter().map(Item::Send)).collect()
}

/// The offer to report an error, which every activity can end with besides its signals.
fn failed() -> Offer {
    let text = json!({ "type": "string" });
    let data = json!({ "required": ["code", "message"], "properties": { "code": text, "message": text } });
    let (event, summary) = ("error".to_owned(), "It failed".to_owned());
    Offer { event, summary, data, is_general: false, irreversible: None }
}

fn choose<'i, 'o>(place: &str, items: &'i [Item<'o>]) -> Result<Option<(usize, &'i Item<'o>)>, InquireError> {
    let labels = std::iter::once(LATER.to_owned()).chain(items.iter().map(Item::label)).collect();
    // A word that stands for an event comes before all texts that contain it.
    let score = |typed: &str, label: &String, _: &str, at: usize| {
        let is_meant = at.checked_sub(1).and_then(|at| items.get(at)).is_some_and(|item| item.is_meant(typed.trim()));
        let is_found = label.to_lowercase().contains(&typed.to_lowercase());
        (is_meant || is_found).then(|| i64::from(is_meant))
    };
    let title = format!("{place} takes");
    let menu = Select::new(&title, labels).with_starting_cursor(start(items)).with_scorer(&score);
    let chosen = menu.raw_prompt()?;
    Ok(chosen.index.checked_sub(1).and_then(|at| Some((at, items.get(at)?))))
}

/// Returns the item that the menu starts on: the first event if all items are harmless, otherwise the item that does
/// nothing.
fn start(items: &[Item<'_>]) -> usize {
    usize::from(!items.is_empty() && items.iter().all(Item::is_harmless))
}

impl Item<'_> {
    /// Returns true if choosing the item by accident does no lasting harm. A grant allows an action that policy held
    /// back, and a reported result cannot be changed.
    fn is_harmless(&self) -> bool {
        match self {
            Item::Grant(_) | Item::Report(_) => false,
            Item::Send(offer) => offer.irreversible.is_none(),
        }
    }

    /// Returns true if a typed word stands for the item, such as `Go` for a confirmation.
    fn is_meant(&self, word: &str) -> bool {
        match self {
            Item::Grant(_) => false,
            Item::Report(offer) | Item::Send(offer) => stands_for(&offer.summary, word),
        }
    }

    fn label(&self) -> String {
        let offer = match self {
            Item::Grant(offer) => return format!("grant once, then {}: {}", offer.event, offer.scopes.join(", ")),
            Item::Report(offer) | Item::Send(offer) => offer,
        };
        let summary = match offer.summary.as_str() {
            "" => String::new(),
            summary => format!(": {summary}"),
        };
        let warning = match &offer.irreversible {
            None => String::new(),
            Some(why) => format!(" (final: {why})"),
        };
        format!("{}{summary}{warning}", offer.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(event: &str, irreversible: Option<&str>) -> Offer {
        let irreversible = irreversible.map(str::to_owned);
        Offer { event: event.into(), summary: String::new(), data: json!({}), is_general: false, irreversible }
    }

    #[test]
    fn the_menu_starts_on_an_event_only_if_all_are_harmless() {
        let (again, stop) = (offer("again", None), offer("stop", Some("it ends the run")));
        let grant = GrantOffer { state: "waiting".into(), scopes: vec!["fs.write:x".into()], event: "granted".into() };
        let cases = [
            (vec![Item::Send(&again)], 1),
            (vec![Item::Send(&again), Item::Send(&stop)], 0),
            (vec![Item::Report(&again)], 0),
            (vec![Item::Grant(&grant), Item::Send(&again)], 0),
            (vec![], 0),
        ];
        for (items, expected) in cases {
            let labels: Vec<String> = items.iter().map(Item::label).collect();
            assert_eq!(start(&items), expected, "{labels:?}");
        }
        assert_eq!(Item::Send(&stop).label(), "stop (final: it ends the run)");
    }
}

//! The counts of a relay: its requests, their tokens, and the budget.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde::Serialize;
use tokio::sync::watch;

use crate::usage::{Counted, Usage};

/// Maximum number of entries of the report. The rest has one common entry per status.
const CALLS_MAX: usize = 200;

/// The path of the common entry.
const OTHERS: &str = "(others)";

/// The longest path that is recorded, in characters.
const PATH_CHARS_MAX: usize = 200;

/// The requests of an agent, without headers, keys and content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The origin to which requests were forwarded.
    pub to: String,
    /// The number of requests.
    pub requests: u64,
    /// The number of requests that were not forwarded.
    pub refused: u64,
    /// The tokens of all replies.
    pub tokens: Usage,
    /// The part of the tokens that was estimated, because the server reported none.
    pub estimated_tokens: u64,
    /// The requests by method, path and status.
    pub calls: Vec<Call>,
}

/// Requests of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    /// The method.
    pub method: String,
    /// The path at the relay, without its query.
    pub path: String,
    /// The status of the answer.
    pub status: u16,
    /// The number of these requests.
    pub count: u64,
}

#[derive(Debug, Default)]
struct Counts {
    calls: BTreeMap<(String, String, u16), u64>,
    requests: u64,
    refused: u64,
    tokens: Usage,
    estimated_tokens: u64,
}

/// Counts requests and tokens.
#[derive(Debug)]
pub(crate) struct Tally {
    counts: Mutex<Counts>,
    tokens_max: Option<u64>,
    /// True if the budget is spent.
    spent: watch::Sender<bool>,
}

impl Tally {
    pub(crate) fn new(tokens_max: Option<u64>) -> Self {
        Tally { counts: Mutex::default(), tokens_max, spent: watch::Sender::new(false) }
    }

    /// Counts a request that was answered.
    pub(crate) fn answered(&self, method: &str, path: &str, status: u16, is_refused: bool) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.requests += 1;
        counts.refused += u64::from(is_refused);
        let cut = |text: &str| text.chars().take(PATH_CHARS_MAX).collect::<String>();
        let key = (cut(method), cut(path), status);
        let is_room = counts.calls.len() < CALLS_MAX || counts.calls.contains_key(&key);
        let key = if is_room { key } else { (String::new(), OTHERS.to_owned(), status) };
        *counts.calls.entry(key).or_default() += 1;
    }

    /// Counts the tokens of a reply.
    pub(crate) fn used(&self, counted: Counted) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let usage = match counted {
            Counted::Reported(usage) => usage,
            Counted::Estimated(usage) => {
                counts.estimated_tokens = counts.estimated_tokens.saturating_add(usage.total());
                usage
            }
        };
        counts.tokens.add(&usage);
        if self.tokens_max.is_some_and(|most| counts.tokens.total() > most) {
            self.spent.send_replace(true);
        }
    }

    /// Returns true if another request may be forwarded. If not, the budget is spent from now on.
    pub(crate) fn has_budget(&self) -> bool {
        let is_left = self.tokens_max.is_none_or(|most| self.tokens() < most);
        if !is_left {
            self.spent.send_replace(true);
        }
        is_left
    }

    /// Returns the tokens so far.
    pub(crate) fn tokens(&self) -> u64 {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).tokens.total()
    }

    /// Returns true if the budget is spent.
    pub(crate) fn is_spent(&self) -> bool {
        *self.spent.borrow()
    }

    /// Waits until the budget is spent.
    pub(crate) async fn spent(&self) {
        // The sender lives as long as this object, so that waiting cannot fail.
        let _ = self.spent.subscribe().wait_for(|is_spent| *is_spent).await;
    }

    pub(crate) fn report(&self, to: &str) -> Report {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let call = |((method, path, status), count): (&(String, String, u16), &u64)| Call {
            method: method.clone(),
            path: path.clone(),
            status: *status,
            count: *count,
        };
        Report {
            to: to.to_owned(),
            requests: counts.requests,
            refused: counts.refused,
            tokens: counts.tokens,
            estimated_tokens: counts.estimated_tokens,
            calls: counts.calls.iter().map(call).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_a_bound() {
        let tally = Tally::new(None);
        for number in 0..2 * CALLS_MAX {
            tally.answered("GET", &format!("/{number}"), 404, true);
        }
        let report = tally.report("https://a.b");
        assert_eq!((report.calls.len(), report.requests, report.refused), (CALLS_MAX + 1, 400, 400));
        assert_eq!(report.calls.iter().map(|call| call.count).sum::<u64>(), 400);
    }
}

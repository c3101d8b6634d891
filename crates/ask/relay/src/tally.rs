//! The counts of a relay: its requests, their tokens, and the budget.
//!
//! A request reserves the most that it can cost before it is forwarded, and gives back what it did not use when its
//! reply has ended. The sum of used and reserved tokens never exceeds the budget, however many requests run at once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Serialize;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use crate::usage::{Counted, Usage};

/// Maximum number of entries of the report. The rest has one common entry per status.
const CALLS_MAX: usize = 200;

/// The path of the common entry.
const OTHERS: &str = "(others)";

/// The longest path that is recorded, in characters.
const PATH_CHARS_MAX: usize = 200;

/// The tokens of a reply below which a request waits for others to end, rather than get a lower limit.
const REPLY_FLOOR: u64 = 4_096;

/// The longest time that a request waits for others to end.
const WAIT_TIME: Duration = Duration::from_secs(120);

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
    reserved: u64,
}

/// Counts requests and tokens.
#[derive(Debug)]
pub(crate) struct Tally {
    counts: Mutex<Counts>,
    tokens_max: Option<u64>,
    /// True if the budget is spent.
    spent: watch::Sender<bool>,
    /// Changes whenever a reservation ends.
    ended: watch::Sender<()>,
}

/// The most that a request can cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) prompt: u64,
    pub(crate) output: u64,
    /// The least output with which the request can be forwarded.
    pub(crate) output_min: u64,
}

/// The reason for not forwarding a request now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Requests that are not answered yet hold the rest of the budget.
    Busy,
    /// The budget is spent.
    Spent,
}

/// Tokens that are set aside for a request. If it is dropped after the request was sent, all of them count as used.
#[derive(Debug)]
pub(crate) struct Reservation {
    tally: Arc<Tally>,
    /// The estimated tokens of the request.
    pub(crate) prompt: u64,
    /// The most tokens of the reply.
    pub(crate) output: u64,
    is_sent: bool,
}

impl Reservation {
    /// The request is on its way: from now on its tokens may be used.
    pub(crate) fn sent(&mut self) {
        self.is_sent = true;
    }

    /// The server did not do the work.
    pub(crate) fn release(mut self) {
        self.is_sent = false;
    }

    /// Takes the tokens of the reply in place of the reserved ones.
    pub(crate) fn settle(mut self, counted: Counted) {
        self.is_sent = false;
        self.tally.used(counted);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_sent {
            let usage = Usage { input: self.prompt, output: self.output, ..Usage::default() };
            self.tally.used(Counted::Estimated(usage));
        }
        let mut counts = self.tally.counts();
        counts.reserved = counts.reserved.saturating_sub(self.prompt.saturating_add(self.output));
        drop(counts);
        self.tally.ended.send_replace(());
    }
}

impl Tally {
    pub(crate) fn new(tokens_max: Option<u64>) -> Self {
        let (spent, ended) = (watch::Sender::new(false), watch::Sender::new(()));
        Tally { counts: Mutex::default(), tokens_max, spent, ended }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets tokens aside for a request. Waits for other requests to end if they hold what it needs.
    pub(crate) async fn reserve(self: &Arc<Self>, need: Need) -> Result<Reservation, NoRoom> {
        let deadline = Instant::now() + WAIT_TIME;
        let mut ended = self.ended.subscribe();
        loop {
            ended.mark_unchanged();
            match self.try_reserve(need) {
                Err(NoRoom::Busy) => {}
                decided => return decided,
            }
            if timeout_at(deadline, ended.changed()).await.is_err() {
                return Err(NoRoom::Busy);
            }
        }
    }

    fn try_reserve(self: &Arc<Self>, need: Need) -> Result<Reservation, NoRoom> {
        let reservation = |output| Reservation { tally: Arc::clone(self), prompt: need.prompt, output, is_sent: false };
        let Some(most) = self.tokens_max else {
            // Nothing is held back: only the prompt is certain to be used if no reply comes.
            let reservation = reservation(0);
            self.counts().reserved += need.prompt;
            return Ok(reservation);
        };
        let mut counts = self.counts();
        let left = most.saturating_sub(counts.tokens.total());
        let room = left.saturating_sub(counts.reserved).checked_sub(need.prompt);
        let is_alone = counts.reserved == 0;
        let enough = if is_alone { need.output_min } else { need.output_min.max(need.output.min(REPLY_FLOOR)) };
        if let Some(room) = room.filter(|room| *room >= enough && left > 0) {
            let output = need.output.min(room);
            counts.reserved += need.prompt + output;
            return Ok(reservation(output));
        }
        if !is_alone && left >= need.prompt.saturating_add(need.output_min) {
            return Err(NoRoom::Busy);
        }
        drop(counts);
        self.spent.send_replace(true);
        Err(NoRoom::Spent)
    }

    /// Counts a request that was answered.
    pub(crate) fn answered(&self, method: &str, path: &str, status: u16, is_refused: bool) {
        let mut counts = self.counts();
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
        let mut counts = self.counts();
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

    /// Returns true if there is a budget.
    pub(crate) fn is_limited(&self) -> bool {
        self.tokens_max.is_some()
    }

    /// Returns true if tokens are left. If not, the budget is spent from now on.
    pub(crate) fn has_budget(&self) -> bool {
        let is_left = self.tokens_max.is_none_or(|most| self.tokens() < most);
        if !is_left {
            self.spent.send_replace(true);
        }
        is_left
    }

    /// Returns the tokens so far.
    pub(crate) fn tokens(&self) -> u64 {
        self.counts().tokens.total()
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
        let counts = self.counts();
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

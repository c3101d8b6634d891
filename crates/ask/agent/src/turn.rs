//! One turn: the conversation with the confined program. It sends what the driver says, collects facts, has permissions
//! decided, and stops the turn if the attempt is cancelled or the budget is spent.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Canceller, Outcome, Question, code};
use interlock_chart::Value;
use interlock_process::{Conversation, Plan, ProgramInput, ProgramResult};
use interlock_relay::Relay;
use serde_json::Value as Json;
use tokio::task::JoinSet;

use crate::{
    Referee, Ruling,
    budget::Left,
    driver::{Driver, End, Heard, Permission, ToolCall},
    facts::{Decided, Facts, Stop},
    record::Record,
};

/// The time that an agent has to end its turn after it was told to.
const CANCEL_GRACE: Duration = Duration::from_millis(1_200);

/// The time for a message to be taken by the program.
const SEND_MAX: Duration = Duration::from_secs(30);

/// The number of permission requests that may be open at once.
const ASKED_MAX: usize = 64;

/// The reason for stopping a turn whose relay has no tokens left.
const REFUSED: &str = "the token budget of the run is spent; the relay forwards no more model calls";

/// The event that answers a permission request.
const PERMIT: &str = "PERMIT";

/// A turn to run.
pub(crate) struct Scene<'s> {
    pub(crate) attempt: &'s Attempt,
    pub(crate) plan: &'s Plan,
    pub(crate) referee: Arc<dyn Referee>,
    pub(crate) left: Left,
    /// Counts the tokens of the turn, if the agent has a relay.
    pub(crate) relay: Option<&'s Relay>,
    /// Notes the session and the tokens of the turn so far, so that they are known if this process is killed.
    pub(crate) note: &'s (dyn Fn(Option<&str>, u64) + Send + Sync),
    /// The time that a person has to answer a permission request.
    pub(crate) ask_ms: u64,
    /// The time that the program has to end by itself after its turn.
    pub(crate) close_grace: Duration,
}

/// The state of a running turn.
struct Running<'r> {
    driver: Box<dyn Driver>,
    facts: Facts,
    record: &'r mut Record,
    asks: JoinSet<(String, Decided)>,
    asked: usize,
    /// The tokens that were noted.
    noted: u64,
    /// The time at which the turn is stopped the hard way.
    deadline: Option<Instant>,
}

impl Scene<'_> {
    /// Runs the turn to its end. No process of the agent is left afterwards.
    pub(crate) async fn run(
        &self,
        driver: Box<dyn Driver>,
        record: &mut Record,
    ) -> Result<(Facts, ProgramResult), Outcome> {
        // The conversation is not stopped by the attempt's own signal, so that the agent can end its turn in order.
        let (stopper, cancel) = Canceller::new();
        let inner = Attempt { cancel, ..self.attempt.clone() };
        let mut conversation = Conversation::open(&inner, self.plan).await?;
        let (facts, asks) = (Facts::default(), JoinSet::new());
        let mut running = Running { driver, facts, record, asks, asked: 0, noted: 0, deadline: None };
        self.converse(&mut running, &mut conversation).await;
        running.asks.abort_all();
        let mut facts = running.facts;
        self.count(&mut facts);
        if facts.stopped.is_some() && facts.end.is_none() {
            stopper.cancel();
        }
        let ended = conversation.close(self.close_grace).await?;
        Ok((facts, ended))
    }

    /// Adds the tokens that the relay has counted. A turn that went over the budget is not finished.
    fn count(&self, facts: &mut Facts) {
        facts.usage.tokens = self.relay.map_or(0, Relay::tokens).max(facts.usage.tokens);
        let refused =
            self.relay.filter(|relay| relay.is_spent() && facts.stopped.is_none()).map(|_| REFUSED.to_owned());
        if let Some(why) = self.overspent(facts).or(refused) {
            facts.stopped = Some(Stop::Budget(why));
        }
    }

    async fn converse(&self, running: &mut Running<'_>, conversation: &mut Conversation) {
        let (input, output) = conversation.split();
        let mut cancel = self.attempt.cancel.clone();
        let first = running.driver.begin();
        self.take(running, input, first).await;
        while running.facts.end.is_none() && running.facts.no_session.is_none() {
            let deadline = running.deadline;
            tokio::select! {
                line = output.line() => match line {
                    Ok(Some(line)) => self.hear(running, input, &line).await,
                    Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                        self.stop(running, input, Stop::Protocol("it sent a line that is too long".to_owned())).await;
                    }
                    Ok(None) | Err(_) => return,
                },
                Some(Ok((id, decided))) = running.asks.join_next(), if !running.asks.is_empty() => {
                    self.answer(running, input, &id, decided).await;
                }
                () = cancel.cancelled(), if running.facts.stopped.is_none() => {
                    self.stop(running, input, Stop::Cancelled).await;
                }
                () = spent(self.relay), if running.facts.stopped.is_none() => {
                    self.stop(running, input, Stop::Budget(REFUSED.to_owned())).await;
                }
                () = until(deadline) => return,
            }
        }
    }

    async fn hear(&self, running: &mut Running<'_>, input: &mut ProgramInput, line: &[u8]) {
        running.record.line('<', line);
        // Agents print other text as well; it is in the transcript.
        let Ok(message) = serde_json::from_slice::<Json>(line) else { return };
        let heard = running.driver.hear(&message);
        self.take(running, input, heard).await;
        let tokens = self.relay.map_or(0, Relay::tokens).max(running.facts.usage.tokens);
        if self.left.tokens.is_some() && tokens > running.noted {
            running.noted = tokens;
            (self.note)(running.facts.session.as_deref(), tokens);
        }
    }

    async fn take(&self, running: &mut Running<'_>, input: &mut ProgramInput, heard: Vec<Heard>) {
        for one in heard {
            match one {
                Heard::Send(message) => send(running, input, &message).await,
                Heard::Session(id) => {
                    (self.note)(Some(&id), running.noted);
                    running.facts.session = Some(id);
                }
                Heard::NoSession(why) => running.facts.no_session = Some(why),
                Heard::Ended(end) => running.facts.end = Some(end),
                Heard::Asked(permission) => self.ask(running, permission),
                Heard::Update(update) => {
                    if let Some(text) = running.facts.add(update) {
                        running.record.show(&text);
                    }
                    if let Some(why) = self.overspent(&running.facts) {
                        self.stop(running, input, Stop::Budget(why)).await;
                    }
                }
            }
        }
    }

    fn overspent(&self, facts: &Facts) -> Option<String> {
        if facts.stopped.is_some() {
            return None;
        }
        let tokens = self.left.tokens.filter(|left| facts.usage.tokens > *left);
        let cost = self.left.session_cost.filter(|left| facts.usage.session_cost.is_some_and(|cost| cost > *left));
        tokens
            .map(|left| {
                format!("the turn used {} tokens, and {left} were left of the run's budget", facts.usage.tokens)
            })
            .or_else(|| {
                cost.map(|left| format!("the session costs more than the {left:.4} that were left of the run's budget"))
            })
    }

    async fn stop(&self, running: &mut Running<'_>, input: &mut ProgramInput, why: Stop) {
        running.facts.stopped = Some(why);
        running.deadline = Some(Instant::now() + CANCEL_GRACE);
        for message in running.driver.cancel() {
            send(running, input, &message).await;
        }
    }

    fn ask(&self, running: &mut Running<'_>, permission: Permission) {
        running.asked += 1;
        let number = running.asked;
        let (attempt, referee, timeout_ms) = (self.attempt.clone(), Arc::clone(&self.referee), self.ask_ms);
        let is_crowded = running.asks.len() >= ASKED_MAX;
        running.asks.spawn(async move {
            let Permission { id, call } = permission;
            let decided = match is_crowded {
                true => {
                    Decided { call, is_allowed: false, by: "policy", reason: "too many requests are open".to_owned() }
                }
                false => decide(&attempt, referee, call, number, timeout_ms).await,
            };
            (id, decided)
        });
    }

    async fn answer(&self, running: &mut Running<'_>, input: &mut ProgramInput, id: &str, decided: Decided) {
        let word = if decided.is_allowed { "allowed" } else { "denied" };
        let what = decided.call.command.clone().unwrap_or_else(|| decided.call.name.clone());
        running.record.show(&format!("{word} by {}: {what}", decided.by));
        for message in running.driver.answer(id, decided.is_allowed, &decided.reason) {
            send(running, input, &message).await;
        }
        running.facts.decisions.push(decided);
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// Waits until the relay refuses requests because the budget is spent.
async fn spent(relay: Option<&Relay>) {
    match relay {
        Some(relay) => relay.spent().await,
        None => std::future::pending().await,
    }
}

async fn send(running: &mut Running<'_>, input: &mut ProgramInput, message: &Json) {
    let line = format!("{message}\n");
    running.record.line('>', line.as_bytes());
    // If the program has ended, its output ends too, which the caller sees.
    if tokio::time::timeout(SEND_MAX, input.send(line.as_bytes())).await.is_err() {
        running.facts.stopped.get_or_insert(Stop::Protocol("it does not read its input".to_owned()));
        running.facts.end.get_or_insert(End::Failed("it does not read its input".to_owned()));
    }
}

/// Decides on a call: by policy, or by a person if policy says so. Without an answer in time the call is denied.
async fn decide(
    attempt: &Attempt,
    referee: Arc<dyn Referee>,
    call: ToolCall,
    number: usize,
    timeout_ms: u64,
) -> Decided {
    let (asked, of) = (attempt.clone(), call.clone());
    let ruling = tokio::task::spawn_blocking(move || referee.rule(&asked, &of)).await;
    let broken = |error: tokio::task::JoinError| Outcome::error(code::FAILED, error.to_string());
    let decided = |call, is_allowed, by, reason| Decided { call, is_allowed, by, reason };
    match ruling.map_err(broken).and_then(|ruling| ruling) {
        Ok(Ruling::Allow) => decided(call, true, "policy", String::new()),
        Ok(Ruling::Deny(reason)) => decided(call, false, "policy", reason),
        Err(outcome) => decided(call, false, "policy", outcome.message()),
        Ok(Ruling::Ask(reason)) => {
            let answer = attempt.host.ask(question(attempt, &call, &reason, number, timeout_ms)).await;
            let word = answer.as_ref().and_then(|data| data.get("decision")).and_then(Value::as_str);
            match word {
                Some("allow") => decided(call, true, "person", reason),
                Some(_) => decided(call, false, "person", format!("a person denied it: {reason}")),
                None => decided(call, false, "nobody", format!("nobody allowed it in time: {reason}")),
            }
        }
    }
}

fn question(attempt: &Attempt, call: &ToolCall, reason: &str, number: usize, timeout_ms: u64) -> Question {
    let what = call.command.clone().or_else(|| call.paths.first().cloned()).unwrap_or_else(|| call.name.clone());
    let redactor = attempt.evidence.redactor();
    let shown = |text: &str| Value::from(redactor.text(text).into_owned());
    Question {
        run: attempt.run.clone(),
        activity: attempt.activity,
        number: attempt.number,
        event: PERMIT.to_owned(),
        id: format!("p{}-{}-{number}", attempt.activity.0, attempt.number),
        text: format!("The agent asks for permission: {}", redactor.text(&what)),
        shows: Value::map([("tool", shown(&call.name)), ("asks", shown(&what)), ("reason", shown(reason))]),
        timeout_ms,
    }
}

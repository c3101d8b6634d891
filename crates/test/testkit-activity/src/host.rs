//! A host for attempts that belong to no run: it records every request.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use interlock_activity::{Ending, Future, Host, Outcome, PastMove, Question, StartRun, UseGrants};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::Hash;

/// Records every request. Its time is virtual: it passes only while an attempt sleeps, unless [`Recorder::in_real_time`] made it.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The progress texts that attempts reported.
    pub said: Mutex<Vec<String>>,
    /// The child runs that were requested; each ends with `aborted`.
    pub runs: Mutex<Vec<StartRun>>,
    /// The durations of all sleeps, in milliseconds.
    pub slept_ms: Mutex<Vec<u64>>,
    /// The current time, in milliseconds since 1970.
    pub now_ms: AtomicI64,
    /// The scopes that a person has granted.
    pub granted: Mutex<Vec<String>>,
    /// The uses of grants that were allowed.
    pub used: Mutex<Vec<UseGrants>>,
    /// The questions that attempts asked.
    pub asked: Mutex<Vec<Question>>,
    /// The evidence that earlier outcomes of the run have recorded, by name, newest first.
    pub recorded: Mutex<BTreeMap<String, Vec<Hash>>>,
    /// The transitions of the run, oldest first.
    pub moves: Mutex<Vec<PastMove>>,
    /// The answers of a person, by the id of the question. A question without one is not answered.
    pub answers: Mutex<BTreeMap<String, Value>>,
    is_real_time: bool,
}

impl Recorder {
    /// Returns a host whose sleeps take real time, for attempts that wait for real programs.
    pub fn in_real_time() -> Self {
        Recorder { is_real_time: true, ..Recorder::default() }
    }
}

impl Recorder {
    /// Records the evidence of an outcome, as a run would.
    pub fn record(&self, outcome: &Outcome) {
        let mut recorded = self.recorded.lock().unwrap();
        outcome.evidence.iter().for_each(|file| recorded.entry(file.name.clone()).or_default().insert(0, file.hash));
    }
}

impl Host for Recorder {
    fn progress(&self, _: &str, _: ActivityId, text: &str) {
        self.said.lock().unwrap().push(text.to_owned());
    }

    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        if self.is_real_time {
            return Box::pin(tokio::time::sleep(Duration::from_millis(ms)));
        }
        self.slept_ms.lock().unwrap().push(ms);
        self.now_ms.fetch_add(ms as i64, Ordering::SeqCst);
        Box::pin(tokio::task::yield_now())
    }

    fn use_grants(&self, order: UseGrants) -> Future<bool> {
        let granted = self.granted.lock().unwrap();
        let is_granted = order.scopes.iter().all(|scope| granted.contains(scope));
        if is_granted {
            self.used.lock().unwrap().push(order);
        }
        Box::pin(std::future::ready(is_granted))
    }

    fn ask(&self, question: Question) -> Future<Option<Value>> {
        let answer = self.answers.lock().unwrap().get(&question.id).cloned();
        self.asked.lock().unwrap().push(question);
        Box::pin(std::future::ready(answer))
    }

    fn recorded(&self, _: &str, name: &str, at_most: usize) -> Result<Vec<Hash>, String> {
        let recorded = self.recorded.lock().unwrap();
        Ok(recorded.get(name).into_iter().flatten().take(at_most).copied().collect())
    }

    fn moves(&self, _: &str, at_most: usize) -> Result<Vec<PastMove>, String> {
        let moves = self.moves.lock().unwrap();
        Ok(moves.iter().skip(moves.len().saturating_sub(at_most)).cloned().collect())
    }

    fn run(&self, start: StartRun) -> Ending {
        self.runs.lock().unwrap().push(start);
        Box::pin(async { Outcome::signal("aborted", Value::empty()) })
    }
}

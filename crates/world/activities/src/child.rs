//! `run.start`: starts another run and waits for it. A retry finds the run that an earlier attempt started. If its
//! state is left, the runtime aborts the run unless it is detached (`crates/world/runtime/src/children.rs`). The activity
//! does not abort it, because an attempt is cancelled for other reasons too.

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Invocation, Outcome, OutcomeKind, Requests, Signal,
    Site, StartRun,
    report::{Account, RunRecord, Worker},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::EvidenceStore;

/// Starts a run and waits for its end.
#[derive(Clone, Copy, Debug)]
pub struct RunStart;

/// The signals, as the runtime names the end of a child run.
const SIGNALS: [Signal; 4] = [
    Signal::new("succeeded", told),
    Signal::new("incomplete", told),
    Signal::new("failed", told),
    Signal::new("aborted", told),
];

/// The schema of the data of every signal. `check` knows the fields of `output` if it knows the machine.
fn told() -> Schema {
    schema::fields([("run", schema::text()), ("state", schema::text()), ("output", schema::any())])
}

impl Activity for RunStart {
    fn name(&self) -> &str {
        "run.start"
    }

    fn summary(&self) -> &str {
        "Starts a run of another machine and waits for its end."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &SIGNALS
    }

    fn schema(&self) -> Schema {
        let machine = ("machine", schema::meaning("machine"));
        let fields = schema::fields([machine, ("input", schema::any()), ("detached", schema::flag())]);
        schema::needing(fields, &["machine"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn waits(&self) -> bool {
        true
    }

    fn account(&self, _: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(Account { worker: Worker::Others, ..Account::default() })
    }

    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move {
            let start = match start(&attempt) {
                Ok(start) => start,
                Err(bad) => return bad.into(),
            };
            let mut cancel = attempt.cancel.clone();
            tokio::select! {
                outcome = attempt.host.run(start) => handled(outcome, &attempt.invocation),
                () = cancel.cancelled() => Outcome::cancelled("the parent run no longer waits for it"),
            }
        })
    }
}

/// Returns the outcome of a child run for its parent. A parent that does not handle `incomplete` hears `failed`: a
/// result about which something was not shown is never a success.
fn handled(outcome: Outcome, invocation: &Invocation) -> Outcome {
    match outcome.kind {
        OutcomeKind::Signal { name, data } if name == "incomplete" && !invocation.takes(&name) => {
            Outcome::signal("failed", data).with(outcome.evidence)
        }
        _ => outcome,
    }
}

fn start(attempt: &Attempt) -> Result<StartRun, BadArgument> {
    let given = Arguments::new(&attempt.with, &["machine", "input", "detached"])?;
    let is_detached = match given.value("detached") {
        None => false,
        Some(Value::Bool(is_detached)) => *is_detached,
        Some(other) => {
            return Err(BadArgument::field("detached", format!("must be true or false, not a {}", other.kind())));
        }
    };
    Ok(StartRun {
        parent: attempt.run.clone(),
        activity: attempt.activity,
        machine: given.need_text("machine")?.to_owned(),
        input: given.value("input").cloned().unwrap_or_else(Value::empty),
        folder: attempt.folder.clone(),
        is_detached,
    })
}

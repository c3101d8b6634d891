//! `run.start`: another run, waited for. Tried again, it finds the one that an earlier try has started.

use interlock_activity::{Activity, Attempt, Bad, Effect, Ending, Given, Outcome, StartRun, code};
use interlock_chart::Value;

/// Starts a run and waits for its end.
#[derive(Clone, Copy, Debug)]
pub struct RunStart;

impl Activity for RunStart {
    fn name(&self) -> &str {
        "run.start"
    }

    fn summary(&self) -> &str {
        "Starts a run of another machine and waits for its end."
    }

    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn signals(&self) -> &[&str] {
        &["succeeded", "failed", "aborted"]
    }

    fn waits(&self) -> bool {
        true
    }

    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move {
            let start = match start(&attempt) {
                Ok(start) => start,
                Err(bad) => return bad.into(),
            };
            let mut cancel = attempt.cancel.clone();
            tokio::select! {
                outcome = attempt.host.run(start) => outcome,
                // The run itself goes on: who wants it to end as well says so to it.
                () = cancel.cancelled() => Outcome::error(code::CANCELLED, "it is no longer waited for"),
            }
        })
    }
}

fn start(attempt: &Attempt) -> Result<StartRun, Bad> {
    let given = Given::new(&attempt.with, &["machine", "input"])?;
    Ok(StartRun {
        parent: attempt.run.clone(),
        activity: attempt.activity,
        machine: given.need_text("machine")?.to_owned(),
        input: given.value("input").cloned().unwrap_or_else(Value::empty),
        folder: attempt.folder.clone(),
    })
}

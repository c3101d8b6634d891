//! `timer.wait`: waits for a duration or until a time. The end is computed from the start of the first attempt, so that
//! retries do not extend the wait.

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, schema,
};
use interlock_chart::{Value, model::Schema};

use serde_json::json;

use super::rfc3339;

/// The longest interval between two readings of the clock: it may have been set, or the computer may have been
/// suspended.
const LOOK_EVERY_MS: u64 = 30_000;

/// Waits for a duration or until a time.
#[derive(Clone, Copy, Debug)]
pub struct TimerWait;

const ELAPSED: Signal = Signal::new("elapsed", || schema::fields([("due_ms", schema::integer())]));

impl Activity for TimerWait {
    fn name(&self) -> &str {
        "timer.wait"
    }

    fn summary(&self) -> &str {
        "Waits for a duration, or until a point in time."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[ELAPSED]
    }

    fn schema(&self) -> Schema {
        let until = json!({ "type": ["string", "integer"] });
        let mut seconds = schema::number();
        seconds["x-interlock"] = "wait-seconds".into();
        schema::fields([("seconds", seconds), ("until", until)])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn waits(&self) -> bool {
        true
    }

    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move {
            match due_ms(&attempt) {
                Ok(due_ms) => wait(attempt, due_ms).await,
                Err(bad) => bad.into(),
            }
        })
    }
}

async fn wait(attempt: Attempt, due_ms: i64) -> Outcome {
    let mut cancel = attempt.cancel.clone();
    loop {
        let left_ms = u64::try_from(due_ms.saturating_sub(attempt.host.now_ms())).unwrap_or(0);
        if left_ms == 0 {
            return ELAPSED.outcome(Value::map([("due_ms", Value::Int(due_ms))]));
        }
        tokio::select! {
            () = attempt.host.sleep(left_ms.min(LOOK_EVERY_MS)) => {}
            () = cancel.cancelled() => return Outcome::cancelled("it was stopped"),
        }
    }
}

fn due_ms(attempt: &Attempt) -> Result<i64, BadArgument> {
    let given = Arguments::new(&attempt.with, &["seconds", "until"])?;
    match (given.seconds("seconds")?, given.value("until")) {
        (Some(time), None) => Ok(attempt.begun_ms.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))),
        (None, Some(Value::Int(ms))) => Ok(*ms),
        (None, Some(Value::Str(text))) => rfc3339::parse_ms(text)
            .ok_or_else(|| BadArgument::field("until", format!("is not a time like 2030-01-31T12:00:00Z: `{text}`"))),
        (None, Some(other)) => Err(BadArgument::field("until", format!("must be a time, not a {}", other.kind()))),
        (Some(_), Some(_)) => Err(BadArgument::field("until", "cannot be given together with `with.seconds`")),
        (None, None) => Err(BadArgument::field("seconds", "is missing, and so is `with.until`")),
    }
}

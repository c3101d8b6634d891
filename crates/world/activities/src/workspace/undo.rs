//! `workspace.undo`: undoes the writes of the run.

use std::path::PathBuf;

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, TakeBack, Writes,
    code, schema,
};
use interlock_chart::{Value, model::Schema};

use super::keep;

const KNOWN: [&str; 5] = ["scope", "step", "state", "record", "paths"];

/// Undoes the writes of the run. The runtime, which has the run's records, does the work.
#[derive(Clone, Copy, Debug)]
pub struct WorkspaceUndo;

const UNDONE: Signal = Signal::new("undone", || {
    schema::fields([("paths", schema::list(schema::text())), ("records", schema::list(schema::integer()))])
});
const CONFLICT: Signal = Signal::new("undo_conflict", || {
    schema::fields([("paths", schema::list(schema::text())), ("code", schema::text()), ("view", schema::text())])
});

impl Activity for WorkspaceUndo {
    fn name(&self) -> &str {
        "workspace.undo"
    }

    fn summary(&self) -> &str {
        "Undoes the run's writes, unless the files have been changed since."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        &[UNDONE, CONFLICT]
    }

    fn schema(&self) -> Schema {
        schema::fields([
            ("scope", schema::one_of(&["run", "turn", "step", "state", "write", "after"])),
            ("step", schema::any()),
            ("state", schema::text()),
            ("record", schema::whole()),
            ("paths", schema::list(schema::plain())),
        ])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move { undo(attempt).await.unwrap_or_else(|error| error) })
    }
}

async fn undo(attempt: Attempt) -> Result<Outcome, Outcome> {
    let order = order(&attempt)?;
    let taken = attempt.host.take_back(order).await.map_err(|why| Outcome::error(code::FAILED, why))?;
    let list = |paths: &[String]| Value::List(paths.iter().map(|path| Value::from(path.as_str())).collect());
    let records = taken.writes.iter().map(|seq| Value::Int(i64::try_from(*seq).unwrap_or(i64::MAX))).collect();
    if taken.conflicts.is_empty() {
        let data = Value::map([("paths", list(&taken.paths)), ("records", Value::List(records))]);
        return Ok(UNDONE.outcome(data));
    }
    let view = keep(&attempt, "conflicts", "text/plain", taken.view.as_bytes())?;
    let data =
        [("paths", list(&taken.conflicts)), ("code", Value::from("E_CONFLICT")), ("view", Value::from(taken.view))];
    Ok(CONFLICT.outcome(Value::map(data)).with([view]))
}

fn order(attempt: &Attempt) -> Result<TakeBack, BadArgument> {
    let given = Arguments::new(&attempt.with, &KNOWN)?;
    let need = |name: &str| given.value(name).ok_or_else(|| BadArgument::field(name, "is missing"));
    let number = |name: &str| given.whole(name)?.ok_or_else(|| BadArgument::field(name, "is missing"));
    let writes = match given.text("scope")?.unwrap_or("run") {
        "run" => Writes::Run,
        "turn" => Writes::Turn,
        "step" => Writes::Step(need("step")?.clone()),
        "state" => Writes::State(given.need_text("state")?.to_owned()),
        "write" => Writes::Record(number("record")?),
        "after" => Writes::After(number("record")?),
        other => {
            let why = format!("must be run, turn, step, state, write or after, not `{other}`");
            return Err(BadArgument::field("scope", why));
        }
    };
    let paths = given.texts("paths")?.unwrap_or_default().into_iter().map(PathBuf::from).collect();
    Ok(TakeBack { run: attempt.run.clone(), writes, paths, snapshot: attempt.snapshot.clone() })
}

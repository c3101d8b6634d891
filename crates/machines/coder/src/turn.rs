//! `turn.open`: keeps the tree that a turn begins with, and finds the commands that verify the project.
//!
//! Every later write of the turn can be compared with that tree. The commands are recorded before anything is changed,
//! so that a turn cannot weaken its own verification unnoticed.

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::Workspace;

use crate::{begin, value};

/// The most earlier turns that a conversation remembers.
const HISTORY_MAX: usize = 8;

/// Opens a turn.
#[derive(Clone, Debug)]
pub struct TurnOpen(Workspace);

impl TurnOpen {
    /// Creates the activity. `workspace` keeps the tree.
    pub fn new(workspace: Workspace) -> Self {
        TurnOpen(workspace)
    }

    fn open(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &["history"])?;
        let failed = |error: interlock_workspace::Error| Outcome::error(code::FAILED, error.to_string());
        let (_, base) = self.0.take_tree(&attempt.folder, &attempt.run).map_err(failed)?;
        self.0.build_on_head(&attempt.folder, &attempt.run).map_err(failed)?;
        // A turn without the list still works; its verification says that it is missing.
        let _ = interlock_verification::remember_dependencies(&self.0, self.0.store(), &attempt.folder, &attempt.run);
        let commands = interlock_project::detect(&attempt.folder).commands;
        let data = [
            ("turn", Value::from(attempt.activity.to_string())),
            ("base", Value::from(base)),
            ("commands", value(&commands)),
            ("history", recent(given.value("history"))),
        ];
        Ok(Outcome::signal("turn_opened", Value::map(data)))
    }
}

/// Returns the latest turns of a conversation.
fn recent(history: Option<&Value>) -> Value {
    let Some(Value::List(turns)) = history else { return Value::List(Vec::new().into()) };
    Value::List(turns.iter().skip(turns.len().saturating_sub(HISTORY_MAX)).cloned().collect())
}

impl Activity for TurnOpen {
    fn name(&self) -> &str {
        "turn.open"
    }

    fn summary(&self) -> &str {
        "Keeps the files that a turn begins with, and finds the commands that verify the project."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("turn_opened")] }
    }

    fn schema(&self) -> Schema {
        schema::fields([("history", schema::list(schema::any()))])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.open(attempt))
    }
}

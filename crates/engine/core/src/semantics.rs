//! The rules by which a run moves. A run records them when it begins, so that an old journal replays unchanged.

use serde::{Deserialize, Serialize};

/// The rules by which a run moves; stored as a number. Each version keeps the rules before it and adds one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum Semantics {
    /// Version 1: every active state hears every event.
    Broadcast,
    /// Version 2: a signal, an error, a timeout and a fault belong to the state they come from. Other regions hear them
    /// by their qualified names only.
    Scoped,
    /// Version 3: an expression that fails never decides. The step is not taken, `error.execution` is handled first, and
    /// a run that does not handle it ends in failure. Machines with `semantics: scxml` keep the rule of version 2.
    Strict,
}

impl Semantics {
    /// The rules of runs that begin now, which are also the rules that the checker proves.
    pub const CURRENT: Self = Semantics::Strict;

    /// The rules of runs whose journal records none.
    pub fn first() -> Self {
        Semantics::Broadcast
    }

    /// Returns true if these are the rules of runs that recorded none; these rules are omitted from records.
    pub fn is_first(&self) -> bool {
        *self == Semantics::first()
    }
}

impl From<Semantics> for u32 {
    fn from(semantics: Semantics) -> u32 {
        match semantics {
            Semantics::Broadcast => 1,
            Semantics::Scoped => 2,
            Semantics::Strict => 3,
        }
    }
}

impl TryFrom<u32> for Semantics {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        match version {
            1 => Ok(Semantics::Broadcast),
            2 => Ok(Semantics::Scoped),
            3 => Ok(Semantics::Strict),
            other => Err(format!("semantics version {other} is not known; a newer interlock wrote it")),
        }
    }
}

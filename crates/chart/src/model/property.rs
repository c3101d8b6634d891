//! What a machine promises.

use super::StateId;
use crate::Span;

/// One promise, to be proved by the checker.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// As the file words it, in one line: `never fixed without testing.passed since changing`.
    pub name: String,
    /// What must hold.
    pub kind: PropertyKind,
    /// Why it matters, in the author's words.
    pub because: String,
    /// Where it stands.
    pub span: Span,
}

/// What must hold.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyKind {
    /// No run goes on for ever by itself: every loop needs a person, an idle timer, or ends.
    Terminates,
    /// `never: A` — A is never seen; with `without: B` — A is never seen unless B was seen before; with `since: C` —
    /// … unless B was seen after the last C (and, where no C was ever seen, at all).
    Never {
        /// What must not be seen.
        what: Observation,
        /// What makes it right.
        without: Option<Observation>,
        /// What makes it wrong again.
        since: Option<Observation>,
    },
    /// `possible: A` — from every reachable configuration that has not ended, A can still be reached.
    Possible {
        /// What can be reached.
        what: Observation,
    },
    /// `after: A` with `leads_to: B` — whenever A is seen, B is seen later on every path. A run that ends without it or goes
    /// round for ever by itself breaks the promise; one that waits for somebody does not.
    LeadsTo {
        /// What begins it.
        after: Observation,
        /// What must come.
        to: Observation,
    },
    /// `at_most: 3` with `of: A` — A is seen at most three times; with `since: C` — since the last C.
    AtMost {
        /// How often.
        count: u32,
        /// Of what.
        of: Observation,
        /// What starts the count again.
        since: Option<Observation>,
    },
}

/// Something that can be seen while a machine moves: any one of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation(pub Vec<Seen>);

/// One thing to be seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// `STATE` — it is entered.
    Entered(StateId),
    /// `STATE.event` — a transition whose source is the state, or one inside it, is taken on the event.
    /// `.event` — the same from any state. A signal that an activity of the state itself declares is [`Seen::Signalled`].
    Taken {
        /// From where; nothing means from anywhere.
        source: Option<StateId>,
        /// By a descriptor's rule: `error` sees `error.execution` too.
        event: super::Descriptor,
    },
    /// `STATE.signal` — an activity of the state ended with the signal, whoever handles it.
    Signalled {
        /// The state that starts the activity.
        state: StateId,
        /// The signal.
        event: super::EventId,
    },
    /// `A -> B` — a transition leaves A and the same microstep enters B.
    Moved {
        /// Left.
        from: StateId,
        /// Entered.
        to: StateId,
    },
    /// `#tag` — a state with the tag is entered.
    Tagged(String),
    /// `@activity` — the activity is started, by whichever state.
    Started(String),
}

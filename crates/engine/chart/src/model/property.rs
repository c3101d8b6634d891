//! The properties of a machine.

use super::StateId;
use crate::Span;

/// One property, which the checker proves.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// The property as one line of text: `never fixed without testing.passed since changing`.
    pub name: String,
    /// The condition that must hold.
    pub kind: PropertyKind,
    /// The author's reason for the property.
    pub because: String,
    /// The position in the file.
    pub span: Span,
}

/// The condition that must hold.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyKind {
    /// No run continues for ever without input: every loop ends, or needs a person or an idle timer.
    Terminates,
    /// `never: A`: A is never observed. With `without: B`: A is never observed unless B was observed before. With
    /// `since: C`: … unless B was observed after the last C (or, if C was never observed, at all).
    Never {
        /// The observation that must not happen.
        what: Observation,
        /// The observation that permits `what`.
        without: Option<Observation>,
        /// The observation that revokes the permission.
        since: Option<Observation>,
    },
    /// `possible: A`: from every reachable configuration that has not ended, A can still be reached.
    Possible {
        /// The observation that must be reachable.
        what: Observation,
    },
    /// `after: A` with `leads_to: B`: whenever A is observed, B is observed later on every path. A run that ends
    /// without B or loops for ever without input violates the property. A run that waits for input does not.
    LeadsTo {
        /// The observation that requires `to`.
        after: Observation,
        /// The observation that must follow.
        to: Observation,
    },
    /// `at_most: 3` with `of: A`: A is observed at most three times. With `since: C`: since the last C.
    AtMost {
        /// The maximum number of observations.
        count: u32,
        /// The observation that is counted.
        of: Observation,
        /// The observation that resets the count.
        since: Option<Observation>,
    },
}

/// An observable fact of a running machine: any one of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation(pub Vec<ObservedFact>);

/// A single observable fact.
#[derive(Clone, Debug, PartialEq)]
pub enum ObservedFact {
    /// `STATE`: the state is entered.
    Entered(StateId),
    /// `STATE.event`: a transition whose source is the state, or a state inside it, is taken on the event. `.event`:
    /// the same for any source. A signal that an activity of the state itself declares is [`ObservedFact::Signalled`].
    Taken {
        /// The source state; `None` means any state.
        source: Option<StateId>,
        /// The event, matched like a descriptor: `error` matches `error.execution` too.
        event: super::Descriptor,
    },
    /// `STATE.signal`: an activity of the state finished with the signal, regardless of its handler.
    Signalled {
        /// The state that starts the activity.
        state: StateId,
        /// The event of the signal.
        event: super::EventId,
    },
    /// `A -> B`: a transition leaves A and the same microstep enters B.
    Moved {
        /// The state that is left.
        from: StateId,
        /// The state that is entered.
        to: StateId,
    },
    /// `#tag`: a state with the tag is entered.
    Tagged(String),
    /// `@activity`: any state starts the activity.
    Started(String),
}

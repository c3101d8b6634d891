//! The machine file as types: what may stand in `machine.yaml`, and nothing about what it means.
//!
//! Three things are made of these types: the published JSON Schema, the YAML that importers write, and the text that
//! `interlock import` prints. Reading does not go through them: the reader works on a tree with positions, so that every
//! problem of a file can be shown where it stands. A test keeps the two in step. (They can be deserialised for the pieces of a
//! machine that travel as JSON inside another format.)

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A map that keeps the order of the file.
pub type Ordered<T> = IndexMap<String, T>;

/// A machine file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Interlock machine")]
pub struct MachineFile {
    /// The machine's id: letters, digits, `-`, `_`.
    pub machine: String,
    /// The author's own version number.
    pub version: u32,
    /// One sentence on what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// JSON Schema of what a run is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// The run's data at the start. Values may use `${input…}`.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub context: Ordered<Json>,
    /// Events that come from outside.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub events: Ordered<EventFile>,
    /// The first state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialFile>,
    /// `parallel` where the top-level states are regions.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindFile>,
    /// Transitions from any state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<OnFile>,
    /// Transitions taken as soon as they are enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always: Option<OneOrMany<TransitionFile>>,
    /// Actions done before the first state is entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<BlocksFile>,
    /// Actions done when the machine ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<BlocksFile>,
    /// The default time limit of every state that starts an activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The states.
    pub states: Ordered<StateFile>,
    /// What the machine promises.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub properties: Vec<PropertyFile>,
}

/// One value or a list of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

/// A declared event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventFile {
    /// Who may raise it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<RaiserFile>,
    /// What it means, for the button a person sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// JSON Schema of what it carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

/// Who may raise an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum RaiserFile {
    User,
    Activity,
    Timer,
    Run,
    Machine,
    Any,
}

/// Kinds of state that must be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum KindFile {
    Final,
    Parallel,
    History,
}

/// How much a history state remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum HistoryFile {
    Shallow,
    Deep,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum OutcomeFile {
    Success,
    Failure,
    Aborted,
}

/// What an activity may do to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum EffectFile {
    Read,
    Write,
    External,
}

/// Where a compound state begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum InitialFile {
    /// Names of states.
    Target(OneOrMany<String>),
    /// With actions.
    Full {
        /// Names of states.
        target: OneOrMany<String>,
        /// Done after the parent's entry.
        actions: OneOrMany<ActionFile>,
    },
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateFile {
    /// One sentence on what happens here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Atomic or compound where it is missing.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindFile>,
    /// On a history state: how much it remembers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryFile>,
    /// On a history state: where it leads when there is nothing to remember.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<OneOrMany<String>>,
    /// The child to begin with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialFile>,
    /// On a final state at the top: how the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeFile>,
    /// On a final state: what the parent's `done` event carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// Words to find states by; `idle` marks a place where a run may rest for ever.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tags: Vec<String>,
    /// Actions done on entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<BlocksFile>,
    /// Actions done on exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<BlocksFile>,
    /// Activities started on entry and cancelled on exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoke: Option<OneOrMany<InvokeFile>>,
    /// How long the run may stay here: `90s`, `20m`, `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Transitions by event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<OnFile>,
    /// Transitions taken as soon as they are enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always: Option<OneOrMany<TransitionFile>>,
    /// Nested states.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub states: Ordered<StateFile>,
}

/// Blocks of actions: one action, a list, or a list of lists (blocks that fail each on their own).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BlocksFile {
    /// One action.
    One(ActionFile),
    /// One block.
    Block(Vec<ActionFile>),
    /// Several blocks.
    Blocks(Vec<Vec<ActionFile>>),
}

/// An activity that a state starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvokeFile {
    /// Its registered name.
    pub activity: String,
    /// What it is given.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub with: Ordered<Json>,
    /// How it may end, besides `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<SignalsFile>,
    /// What it may do to the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectFile>,
    /// Whether a person reports its result if it is not installed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub manual: bool,
}

/// How an activity may end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SignalsFile {
    /// Names.
    Names(Vec<String>),
    /// Names with the JSON Schema of what they carry.
    Typed(Ordered<Json>),
}

/// Transitions by event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OnFile {
    /// A map of event descriptors to transitions.
    Map(Ordered<OneOrMany<TransitionFile>>),
    /// A list of transitions that name their event, where the order between events matters.
    List(Vec<TransitionFile>),
}

/// A transition: the name of its target, or all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TransitionFile {
    /// The name of its target.
    Target(String),
    /// All of it.
    Full(Box<TransitionBody>),
}

/// A transition in full.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransitionBody {
    /// In the list form of `on`: the events it takes, separated by spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Where it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<OneOrMany<String>>,
    /// CEL; it is enabled only if this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// How often it may be taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<OneOrMany<LimitFile>>,
    /// Counters that go back to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<OneOrMany<String>>,
    /// New values for variables of the context.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub assign: Ordered<Json>,
    /// Events for the machine itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raise: Option<OneOrMany<RaiseFile>>,
    /// Further actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<OneOrMany<ActionFile>>,
    /// What the trace says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Does not leave its source when its targets are inside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal: Option<bool>,
}

/// A bound on how often a transition is taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LimitFile {
    /// With a counter of its own.
    Own(u32),
    /// With a counter of its own: `${…}` over `input`.
    OwnInput(String),
    /// With a named counter.
    Named {
        /// The counter's name.
        counter: String,
        /// A number, or `${…}` over `input`.
        max: MaxFile,
    },
}

/// The value a counter must stay below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MaxFile {
    /// A number.
    Fixed(u32),
    /// `${…}` over `input`.
    Input(String),
}

/// An event for the machine itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RaiseFile {
    /// Its name.
    Name(String),
    /// With data.
    Full {
        /// Its name.
        event: String,
        /// What it carries: a map, or `${…}`.
        data: Json,
    },
}

/// An action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ActionFile {
    /// New values for variables of the context.
    Assign {
        /// Variable to value.
        assign: Ordered<Json>,
    },
    /// An event for the machine itself.
    Raise {
        /// Which.
        raise: RaiseFile,
    },
    /// An event on the external queue, now or later.
    Send {
        /// Which, and when.
        send: SendFile,
    },
    /// Take a delayed event back.
    Cancel {
        /// The id it was sent under.
        cancel: String,
    },
    /// Write a line into the trace.
    Log {
        /// What.
        log: String,
    },
    /// Do one thing or another.
    If {
        /// CEL.
        #[serde(rename = "if")]
        cond: String,
        /// Where it holds.
        then: Vec<ActionFile>,
        /// Where it does not.
        #[serde(rename = "else", skip_serializing_if = "Vec::is_empty", default)]
        otherwise: Vec<ActionFile>,
    },
}

/// An event to be sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendFile {
    /// Its name.
    pub event: String,
    /// What it carries: a map, or `${…}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// How long to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// A name to cancel it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A promise. The forms are in `docs/machine-file.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropertyFile {
    /// No loop runs for ever by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminates: Option<bool>,
    /// What is never seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never: Option<OneOrMany<String>>,
    /// … unless this was seen before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<OneOrMany<String>>,
    /// … since this was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<OneOrMany<String>>,
    /// What can always still be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub possible: Option<OneOrMany<String>>,
    /// Whenever this is seen …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<OneOrMany<String>>,
    /// … this follows on every path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<OneOrMany<String>>,
    /// How often at most …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u32>,
    /// … this is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<OneOrMany<String>>,
    /// Why it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

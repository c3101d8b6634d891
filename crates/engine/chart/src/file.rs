//! The machine file as types: the syntax of `machine.yaml` without its meaning.
//!
//! These types have three uses: the published JSON Schema, the YAML that importers write, and the text that
//! `interlock import` prints. The reader does not use them: it works on a tree with positions, so that every problem of
//! a file is shown at its position. A test keeps the two consistent. (The types are deserialised only for the pieces of
//! a machine that are embedded as JSON in another format.)

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A map that keeps the order of the file.
pub type Ordered<T> = IndexMap<String, T>;

/// The contents of a machine file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Interlock machine")]
pub struct MachineFile {
    /// The machine's id: letters, digits, `-`, `_`.
    pub machine: String,
    /// The version number, chosen by the author.
    pub version: u32,
    /// One sentence that describes the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// `scxml` if a guard that cannot be evaluated counts as false, as in W3C SCXML. Without it, such a guard stops the
    /// step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantics: Option<SemanticsFile>,
    /// JSON Schema of the run's input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// The run's initial data. Values may use `${input…}`.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub context: Ordered<Json>,
    /// The events that come from outside.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub events: Ordered<EventFile>,
    /// The initial state of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialFile>,
    /// `parallel` if the top-level states are regions.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindFile>,
    /// Transitions from any state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<OnFile>,
    /// Transitions that are taken as soon as they are enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always: Option<OneOrMany<TransitionFile>>,
    /// Actions that run before the first state is entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<BlocksFile>,
    /// Actions that run when the machine ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<BlocksFile>,
    /// The default timeout of every state that starts an activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The top-level states by name.
    pub states: Ordered<StateFile>,
    /// The properties that the checker proves.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub properties: Vec<PropertyFile>,
}

/// Rules for expressions that cannot be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum SemanticsFile {
    Scxml,
}

/// One value or a list of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// A single value.
    One(T),
    /// A list of values.
    Many(Vec<T>),
}

/// The declaration of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventFile {
    /// The sources that may raise the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<RaiserFile>,
    /// The event's meaning, shown on its button.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// JSON Schema of the event's data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// True if its consequences cannot be undone: a form never preselects it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub irreversible: bool,
    /// Whether it continues a run that has ended: a new run begins in the state before the end and takes it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub continues: bool,
}

/// The sources that may raise an event.
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

/// The kinds of state that must be declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum KindFile {
    Final,
    Parallel,
    History,
}

/// The depth of a history state's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum HistoryFile {
    Shallow,
    Deep,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum OutcomeFile {
    Success,
    Incomplete,
    Failure,
    Aborted,
}

/// The effect of an activity on the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum EffectFile {
    Read,
    Write,
    External,
}

/// The initial transition of a compound state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum InitialFile {
    /// The names of the target states.
    Target(OneOrMany<String>),
    /// The target states with actions.
    Full {
        /// The names of the target states.
        target: OneOrMany<String>,
        /// Actions that run after the parent's entry.
        actions: OneOrMany<ActionFile>,
    },
}

/// The description of a state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateFile {
    /// One sentence that describes the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The kind of state. If missing, the state is atomic or compound.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindFile>,
    /// On a history state: the depth of its memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryFile>,
    /// On a history state: the default targets if there is nothing to restore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<OneOrMany<String>>,
    /// The initial child state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialFile>,
    /// On a top-level final state: the outcome of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeFile>,
    /// On a final state: the data of the parent's `done` event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// Tags for finding states. `idle` marks a state in which a run may stay for ever.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tags: Vec<String>,
    /// Data that a person sees while the state waits for them, by label.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub shows: Ordered<Json>,
    /// Permissions that a person can grant while the state waits for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<GrantsFile>,
    /// Actions done on entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<BlocksFile>,
    /// Actions that run on exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<BlocksFile>,
    /// Activities that are started on entry and cancelled on exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoke: Option<OneOrMany<InvokeFile>>,
    /// The maximum time in this state: `90s`, `20m`, `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The transitions by event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<OnFile>,
    /// Transitions that are taken as soon as they are enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always: Option<OneOrMany<TransitionFile>>,
    /// The nested states by name.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub states: Ordered<StateFile>,
}

/// Permissions that a person can grant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantsFile {
    /// The scopes, a list of texts; usually `${…}`.
    pub scopes: Json,
    /// The event that is sent once all of them are granted.
    pub event: String,
}

/// Blocks of actions: one action, a list, or a list of lists (blocks that fail each on their own).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BlocksFile {
    /// A single action.
    One(ActionFile),
    /// One block of actions.
    Block(Vec<ActionFile>),
    /// Several blocks of actions.
    Blocks(Vec<Vec<ActionFile>>),
}

/// An activity that a state starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvokeFile {
    /// The activity's registered name.
    pub activity: String,
    /// The activity's arguments.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub with: Ordered<Json>,
    /// The signals with which the activity may finish, besides `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<SignalsFile>,
    /// The activity's effect on the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectFile>,
    /// True if a person reports its result when it is not installed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub manual: bool,
}

/// The signals with which an activity may finish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SignalsFile {
    /// The names of the signals.
    Names(Vec<String>),
    /// The names of the signals with the JSON Schemas of their data.
    Typed(Ordered<Json>),
}

/// Transitions by event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OnFile {
    /// A map of event descriptors to transitions.
    Map(Ordered<OneOrMany<TransitionFile>>),
    /// A list of transitions that name their event, for a significant order between events.
    List(Vec<TransitionFile>),
}

/// A transition: the name of its target, or all of its fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TransitionFile {
    /// The name of the target.
    Target(String),
    /// All fields of the transition.
    Full(Box<TransitionBody>),
}

/// A transition with all its fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransitionBody {
    /// In the list form of `on`: the event descriptors, separated by spaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The target states of the transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<OneOrMany<String>>,
    /// A CEL condition. The transition is enabled only if it is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The maximum number of times the transition may be taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<OneOrMany<LimitFile>>,
    /// The counters that are reset to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<OneOrMany<String>>,
    /// New values for variables of the context.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub assign: Ordered<Json>,
    /// Events that are put on the internal queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raise: Option<OneOrMany<RaiseFile>>,
    /// Further actions of the transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<OneOrMany<ActionFile>>,
    /// The reason that the trace shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if the transition does not leave its source when its targets are inside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal: Option<bool>,
}

/// A bound on the number of times a transition is taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LimitFile {
    /// A number for the transition's own counter.
    Own(u32),
    /// `${…}` over `input` for the transition's own counter.
    OwnInput(String),
    /// A bound for a named counter.
    Named {
        /// The name of the counter.
        counter: String,
        /// A number, or `${…}` over `input`.
        max: MaxFile,
    },
}

/// The value that a counter must stay below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MaxFile {
    /// A fixed number.
    Fixed(u32),
    /// `${…}` over `input`.
    Input(String),
}

/// An event that is put on the internal queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RaiseFile {
    /// The name of the event.
    Name(String),
    /// An event with data.
    Full {
        /// The name of the event.
        event: String,
        /// The event's data: a map, or `${…}`.
        data: Json,
    },
}

/// An action of a state or transition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ActionFile {
    /// Assigns new values to variables of the context.
    Assign {
        /// The new values by variable.
        assign: Ordered<Json>,
    },
    /// Puts an event on the internal queue.
    Raise {
        /// The event, with or without data.
        raise: RaiseFile,
    },
    /// Puts an event on the external queue, immediately or after a delay.
    Send {
        /// The event and its delay.
        send: SendFile,
    },
    /// Cancels a delayed event.
    Cancel {
        /// The id with which the event was sent.
        cancel: String,
    },
    /// Writes a line to the trace.
    Log {
        /// The text of the line.
        log: String,
    },
    /// Runs one of two lists of actions.
    If {
        /// The condition in CEL.
        #[serde(rename = "if")]
        cond: String,
        /// The actions that run if the condition is true.
        then: Vec<ActionFile>,
        /// The actions that run if the condition is false.
        #[serde(rename = "else", skip_serializing_if = "Vec::is_empty", default)]
        otherwise: Vec<ActionFile>,
    },
}

/// An event to send.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendFile {
    /// The name of the event.
    pub event: String,
    /// The event's data: a map, or `${…}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// The delay before the event is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// The id with which the event can be cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A property to prove. The forms are in `docs/machine-file.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PropertyFile {
    /// No loop runs for ever without input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminates: Option<bool>,
    /// The observation that never happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never: Option<OneOrMany<String>>,
    /// … unless this was observed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<OneOrMany<String>>,
    /// … since this was last observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<OneOrMany<String>>,
    /// The observation that always remains reachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub possible: Option<OneOrMany<String>>,
    /// Whenever this is observed …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<OneOrMany<String>>,
    /// … this follows on every path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<OneOrMany<String>>,
    /// The maximum number of times …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u32>,
    /// … that this is observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<OneOrMany<String>>,
    /// The reason why the property matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

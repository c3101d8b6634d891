//! The codes of the reader's problems. A test ensures that each has a page under `docs/errors/`.

// E01: the file and its YAML.
/// The file is not YAML.
pub const SYNTAX: &str = "E0101";
/// The file is larger than the reader accepts.
pub const FILE_TOO_LARGE: &str = "E0102";
/// The file is not UTF-8.
pub const NOT_UTF8: &str = "E0103";
/// Lists and maps are nested too deeply.
pub const TOO_DEEP: &str = "E0104";
/// There are more items of one kind than the reader accepts.
pub const TOO_MANY: &str = "E0105";
/// The file uses an anchor, an alias, a merge key or a tag.
pub const NOT_LITERAL: &str = "E0106";
/// A key occurs twice in one map.
pub const DUPLICATE_KEY: &str = "E0107";
/// A key is not known here.
pub const UNKNOWN_KEY: &str = "E0108";
/// A required key is missing.
pub const MISSING_KEY: &str = "E0109";
/// Another kind of YAML value is expected.
pub const WRONG_KIND: &str = "E0110";
/// The word is not one of the allowed words.
pub const UNKNOWN_WORD: &str = "E0111";
/// The value is not a duration.
pub const BAD_DURATION: &str = "E0112";
/// A `${` has no matching `}`.
pub const OPEN_TEMPLATE: &str = "E0113";
/// A name contains illegal characters.
pub const BAD_NAME: &str = "E0114";
/// The file is empty or contains several documents.
pub const NOT_ONE_DOCUMENT: &str = "E0115";
/// A number is not allowed here.
pub const BAD_NUMBER: &str = "E0116";
/// An action has no known key, or several.
pub const BAD_ACTION: &str = "E0117";
/// The value is not a valid JSON Schema.
pub const BAD_SCHEMA: &str = "E0118";

// E02: names and structure.
/// A state that does not exist.
pub const UNKNOWN_STATE: &str = "E0201";
/// Two states have one name.
pub const DUPLICATE_STATE: &str = "E0202";
/// A state's initial target is not allowed.
pub const BAD_INITIAL: &str = "E0203";
/// A machine, or a state's `states`, has no state.
pub const EMPTY_MACHINE: &str = "E0204";
/// A key is not allowed for this kind of state.
pub const MISPLACED_KEY: &str = "E0205";
/// A history state has no parent whose history it could keep.
pub const BAD_HISTORY: &str = "E0206";
/// A history state has a target outside its parent.
pub const BAD_HISTORY_TARGET: &str = "E0207";
/// Several targets cannot be active together.
pub const TARGETS_APART: &str = "E0208";
/// A transition can never be chosen.
pub const NEVER_CHOSEN: &str = "W0209";
/// An event is handled but never raised.
pub const NOBODY_RAISES: &str = "E0210";
/// An activity's signal is not handled.
pub const NOBODY_HANDLES_SIGNAL: &str = "E0211";
/// A declared event is not handled.
pub const NOBODY_HANDLES_EVENT: &str = "W0212";
/// A limited transition has no alternative when its limit is reached.
pub const NO_WAY_OUT: &str = "E0213";
/// A counter is not used by any limit.
pub const UNKNOWN_COUNTER: &str = "E0214";
/// A state has the machine's id.
pub const NAMED_LIKE_MACHINE: &str = "E0215";
/// A state has an outcome but does not end a run.
pub const BAD_OUTCOME: &str = "E0216";
/// A state ends the run but has no outcome.
pub const NO_OUTCOME: &str = "W0217";
/// A context variable does not exist.
pub const UNKNOWN_VARIABLE: &str = "E0218";
/// The input's schema does not bound a limit's `max`.
pub const UNBOUNDED_MAX: &str = "E0219";
/// A limited transition may have no alternative when its limit is reached.
pub const UNCERTAIN_WAY_OUT: &str = "W0220";
/// A state's timeout is not handled.
pub const NOBODY_HANDLES_TIMEOUT: &str = "W0221";
/// A transition handles the same signal of two activities that can be active together.
pub const SHARED_SIGNAL: &str = "E0222";
/// A qualified name does not refer to an event of the state.
pub const UNKNOWN_QUALIFIED: &str = "E0223";
/// An event has the name of a state's signal.
pub const AMBIGUOUS_NAME: &str = "E0224";
/// `grants` names an event that the state does not take from a person.
pub const GRANT_NOT_TAKEN: &str = "E0225";
/// A state's `on: timeout` takes the timeout of an outer state and stays inside that state.
pub const TAKES_OUTER_TIMEOUT: &str = "W0226";

// E04: properties.
/// A property that has none of the known forms.
pub const BAD_PROPERTY: &str = "E0401";
/// The text is not a legal observation.
pub const BAD_OBSERVATION: &str = "E0402";
/// A property names a state that does not exist.
pub const UNSEEN_STATE: &str = "E0403";
/// A property names an event that no transition there handles.
pub const UNSEEN_EVENT: &str = "E0404";
/// A property names a tag that no state has.
pub const UNSEEN_TAG: &str = "E0405";
/// A property names an activity that no state starts.
pub const UNSEEN_ACTIVITY: &str = "E0406";

/// Every code of the reader, in order.
pub const ALL: &[&str] = &[
    SYNTAX,
    FILE_TOO_LARGE,
    NOT_UTF8,
    TOO_DEEP,
    TOO_MANY,
    NOT_LITERAL,
    DUPLICATE_KEY,
    UNKNOWN_KEY,
    MISSING_KEY,
    WRONG_KIND,
    UNKNOWN_WORD,
    BAD_DURATION,
    OPEN_TEMPLATE,
    BAD_NAME,
    NOT_ONE_DOCUMENT,
    BAD_NUMBER,
    BAD_ACTION,
    BAD_SCHEMA,
    UNKNOWN_STATE,
    DUPLICATE_STATE,
    BAD_INITIAL,
    EMPTY_MACHINE,
    MISPLACED_KEY,
    BAD_HISTORY,
    BAD_HISTORY_TARGET,
    TARGETS_APART,
    NEVER_CHOSEN,
    NOBODY_RAISES,
    NOBODY_HANDLES_SIGNAL,
    NOBODY_HANDLES_EVENT,
    NO_WAY_OUT,
    UNKNOWN_COUNTER,
    NAMED_LIKE_MACHINE,
    BAD_OUTCOME,
    NO_OUTCOME,
    UNKNOWN_VARIABLE,
    UNBOUNDED_MAX,
    UNCERTAIN_WAY_OUT,
    NOBODY_HANDLES_TIMEOUT,
    SHARED_SIGNAL,
    UNKNOWN_QUALIFIED,
    AMBIGUOUS_NAME,
    GRANT_NOT_TAKEN,
    TAKES_OUTER_TIMEOUT,
    BAD_PROPERTY,
    BAD_OBSERVATION,
    UNSEEN_STATE,
    UNSEEN_EVENT,
    UNSEEN_TAG,
    UNSEEN_ACTIVITY,
];

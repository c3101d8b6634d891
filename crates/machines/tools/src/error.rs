//! The seven error codes of tool calls, and the one table from the codes of activities to them.

use interlock_activity::{Outcome, OutcomeKind, code};
use interlock_process::SANDBOX;
use serde_json::{Value as Json, json};

/// The most bytes of an error message.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;

/// The class of an error, as models, machines and people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorCode {
    /// Policy refuses the action: a path outside of the workspace, a dangerous command, the network.
    PolicyDenied,
    /// The file system or a program could not be used.
    Io,
    /// A tool took longer than its time limit.
    ToolTimeout,
    /// The arguments of a tool do not fit its schema.
    InvalidArgs,
    /// A patch does not apply, or somebody else has changed the file.
    Conflict,
    /// A build or a test failed.
    BuildFail,
    /// The output of a model does not keep to the protocol.
    Model,
}

/// The codes of activities, by the code that stands for them. A code that is not listed stands for [`ErrorCode::Io`].
const TABLE: [(&str, ErrorCode); 24] = [
    ("POLICY_DENIED", ErrorCode::PolicyDenied),
    ("CONFIRMATION_NEEDED", ErrorCode::PolicyDenied),
    ("BAD_POLICY", ErrorCode::PolicyDenied),
    (SANDBOX, ErrorCode::PolicyDenied),
    ("LIMIT", ErrorCode::PolicyDenied),
    ("UNPROVED", ErrorCode::PolicyDenied),
    (code::TIMEOUT, ErrorCode::ToolTimeout),
    (code::BAD_INPUT, ErrorCode::InvalidArgs),
    ("REDACTED", ErrorCode::InvalidArgs),
    ("TREE_CHANGED", ErrorCode::Conflict),
    ("TORN", ErrorCode::Conflict),
    ("UNDO_CONFLICT", ErrorCode::Conflict),
    ("MODEL_FAILURE", ErrorCode::Model),
    ("BUDGET", ErrorCode::Model),
    ("UNDECIDED", ErrorCode::Model),
    ("BAD_SETTINGS", ErrorCode::Model),
    (code::BAD_OUTCOME, ErrorCode::Model),
    (code::FAILED, ErrorCode::Io),
    (code::INTERRUPTED, ErrorCode::Io),
    (code::UNKNOWN_OUTCOME, ErrorCode::Io),
    (code::UNREACHABLE, ErrorCode::Io),
    (code::CANCELLED, ErrorCode::Io),
    ("NO_SNAPSHOT", ErrorCode::Io),
    ("BUILD_FAILED", ErrorCode::BuildFail),
];

impl ErrorCode {
    /// All codes.
    pub const ALL: [ErrorCode; 7] = [
        ErrorCode::PolicyDenied,
        ErrorCode::Io,
        ErrorCode::ToolTimeout,
        ErrorCode::InvalidArgs,
        ErrorCode::Conflict,
        ErrorCode::BuildFail,
        ErrorCode::Model,
    ];

    /// The name in events and reports.
    pub fn name(self) -> &'static str {
        match self {
            ErrorCode::PolicyDenied => "E_POLICY_DENIED",
            ErrorCode::Io => "E_IO",
            ErrorCode::ToolTimeout => "E_TOOL_TIMEOUT",
            ErrorCode::InvalidArgs => "E_INVALID_ARGS",
            ErrorCode::Conflict => "E_CONFLICT",
            ErrorCode::BuildFail => "E_BUILD_FAIL",
            ErrorCode::Model => "E_MODEL",
        }
    }

    /// Returns the code that stands for the code of an activity's error. A code of the seven stands for itself.
    pub fn of_activity(code: &str) -> Self {
        let own = ErrorCode::ALL.into_iter().find(|own| own.name() == code);
        let listed = || TABLE.iter().find(|(name, _)| *name == code).map(|(_, code)| *code);
        own.or_else(listed).unwrap_or(ErrorCode::Io)
    }

    /// The next step that a person or a model can take, if the error itself names no better one.
    pub fn next_step(self) -> &'static str {
        match self {
            ErrorCode::PolicyDenied => "choose another way, or let a person allow it in the policy",
            ErrorCode::Io => "check that the file or program exists and can be used",
            ErrorCode::ToolTimeout => "run less at once, or give a longer `timeout_s`",
            ErrorCode::InvalidArgs => "correct the arguments; the tool's schema lists them",
            ErrorCode::Conflict => "read the file again and make the change on its current content",
            ErrorCode::BuildFail => "read the output and repair the cause",
            ErrorCode::Model => "ask again in other words, or choose another model",
        }
    }
}

/// The failure of a tool call. Nothing was changed by the call, unless its message says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    /// The class of the error.
    pub code: ErrorCode,
    /// The problem and its place.
    pub message: String,
    /// The next step that a person or a model can take.
    pub next_step: String,
    /// True if the same call may succeed a moment later.
    pub is_transient: bool,
}

impl ToolError {
    /// An error with the usual next step of its code.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        let message = match message.len() > MESSAGE_BYTES_MAX {
            true => format!("{}…", crate::cut::beginning(&message, MESSAGE_BYTES_MAX)),
            false => message,
        };
        ToolError { code, message, next_step: code.next_step().to_owned(), is_transient: false }
    }

    /// An error in one argument.
    pub(crate) fn argument(field: &str, why: impl std::fmt::Display) -> Self {
        ToolError::new(ErrorCode::InvalidArgs, format!("`{field}` {why}"))
    }

    /// Replaces the next step.
    #[must_use]
    pub fn then(mut self, next_step: impl Into<String>) -> Self {
        self.next_step = next_step.into();
        self
    }

    /// The fields that a result carries under `error`.
    pub fn to_json(&self, trace_id: &str) -> Json {
        json!({
            "code": self.code.name(),
            "message": self.message,
            "trace_id": trace_id,
            "next_step": self.next_step,
        })
    }
}

/// The end of a call without a result: an error of the tool, or an outcome that ends the whole attempt.
#[derive(Debug)]
pub(crate) enum Failure {
    Tool(ToolError),
    Attempt(Box<Outcome>),
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Failure::Tool(error)
    }
}

/// Turns the outcome of a program or a store into the failure of a call.
impl From<Outcome> for Failure {
    fn from(outcome: Outcome) -> Self {
        let OutcomeKind::Error { data } = &outcome.kind else { return Failure::Attempt(Box::new(outcome)) };
        let text = |name: &str| data.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        let code = text("code");
        let error = ToolError::new(ErrorCode::of_activity(&code), text("message"));
        let next_step = match code.as_str() {
            SANDBOX => Some("`interlock doctor` shows what the sandbox lacks on this computer"),
            "LIMIT" => Some("run less at once, or let a person raise the limits of programs"),
            _ => None,
        };
        Failure::Tool(match next_step {
            Some(next_step) => error.then(next_step),
            None => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_activity_code_has_one_of_the_seven_codes() {
        let cases = [
            ("TIMEOUT", "E_TOOL_TIMEOUT"),
            ("SANDBOX", "E_POLICY_DENIED"),
            ("TREE_CHANGED", "E_CONFLICT"),
            ("MODEL_FAILURE", "E_MODEL"),
            ("BAD_INPUT", "E_INVALID_ARGS"),
            ("FAILED", "E_IO"),
            ("E_BUILD_FAIL", "E_BUILD_FAIL"),
            ("SOMETHING_NEW", "E_IO"),
        ];
        for (code, expected) in cases {
            assert_eq!(ErrorCode::of_activity(code).name(), expected, "{code}");
        }
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let error = ToolError::new(ErrorCode::Io, "ä".repeat(MESSAGE_BYTES_MAX));
        assert!(error.message.len() <= MESSAGE_BYTES_MAX + '…'.len_utf8());
    }
}

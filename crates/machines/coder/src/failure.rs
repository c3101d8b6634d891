//! The failure of a turn as its user sees it: one of the seven codes of tools, the next action of a person, and the id under
//! which its records are found.
//!
//! `interlock-tools` has the table that translates the error codes of activities.

use interlock_tools::ErrorCode;
use serde::Serialize;
use serde_json::Value as Json;

/// A failure with its code, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// One of the seven codes.
    pub code: &'static str,
    /// The message of the activity.
    pub message: String,
    /// The id under which the records of the failure are found: the run.
    pub trace_id: String,
    /// The next action of a person.
    pub next_step: String,
}

impl Failure {
    /// Reads the failure that a machine, an activity or a tool has recorded; `None` if there is none. A next action that it
    /// names is kept.
    pub fn of(recorded: &Json, run: &str) -> Option<Self> {
        // A failed tool call has its error in its payload.
        let error = recorded.get("payload").unwrap_or(recorded);
        let error = error.get("error").unwrap_or(error);
        let text = |name: &str| error.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
        let message = text("message").or_else(|| text("reason"))?;
        let mut failure = Failure::new(text("code").unwrap_or_default(), message, run);
        if let Some(next_step) = text("next_step") {
            failure.next_step = next_step.to_owned();
        }
        Some(failure)
    }

    /// Translates the code of an activity and adds the next action of a person.
    fn new(code: &str, message: &str, run: &str) -> Self {
        let code = ErrorCode::of_activity(code);
        let next_step = match code {
            ErrorCode::PolicyDenied => {
                "allow it in .interlock/policy.toml, or ask for a change that does not need it".into()
            }
            ErrorCode::Io => "check that the files exist and that you may read and write them".into(),
            ErrorCode::ToolTimeout => "ask for a smaller step, or run the command yourself".into(),
            ErrorCode::InvalidArgs => "say more precisely what should be done".into(),
            ErrorCode::Conflict => "look at the files that changed in the meantime, then send the request again".into(),
            ErrorCode::BuildFail => format!("look at the log of the command: `interlock report {run}` shows it"),
            ErrorCode::Model => {
                "test the model with `interlock doctor`, or configure another one in judges.toml".into()
            }
        };
        Failure { code: code.name(), message: message.to_owned(), trace_id: run.to_owned(), next_step }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn codes_of_activities_become_one_of_the_seven() {
        let found = |code: &str| Failure::of(&json!({ "code": code, "message": "m" }), "r").unwrap().code;
        assert_eq!(found("MODEL_FAILURE"), "E_MODEL");
        assert_eq!(found("TREE_CHANGED"), "E_CONFLICT");
        assert_eq!(found("E_CONFLICT"), "E_CONFLICT");
        assert_eq!(found("NEW_CODE"), "E_IO");
        let failure = Failure::of(&json!({ "code": "E_BUILD_FAIL", "message": "it fails" }), "run-1").unwrap();
        assert_eq!(failure.next_step, "look at the log of the command: `interlock report run-1` shows it");
    }

    #[test]
    fn a_failure_is_found_wherever_it_is_recorded() {
        let call = json!({ "name": "apply_patch", "ok": false,
            "payload": { "error": { "code": "E_CONFLICT", "message": "it does not apply" } } });
        let told = Failure::of(&call, "r").unwrap();
        assert_eq!((told.code, told.message.as_str()), ("E_CONFLICT", "it does not apply"));
        assert_eq!(Failure::of(&json!({ "code": "TIMEOUT", "message": "m" }), "r").unwrap().code, "E_TOOL_TIMEOUT");
        let denied = json!({ "code": "E_POLICY_DENIED", "reason": "the network is off" });
        assert_eq!(Failure::of(&denied, "r").unwrap().message, "the network is off");
        let own = json!({ "code": "MODEL_FAILURE", "message": "status 401", "next_step": "check the key" });
        assert_eq!(Failure::of(&own, "r").unwrap().next_step, "check the key");
        // A failure that was translated before stays as it is.
        let again = serde_json::to_value(Failure::of(&own, "r")).unwrap();
        assert_eq!(serde_json::to_value(Failure::of(&again, "r")).unwrap(), again);
        assert_eq!(Failure::of(&json!(null), "r"), None);
    }
}

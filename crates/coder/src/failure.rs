//! The failure of a turn as its user sees it: one of the seven codes of tools, and the next action of a person.
//!
//! `interlock-tools` has the table that translates the error codes of activities.

use interlock_tools::ErrorCode;
use serde::Serialize;

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

/// Translates the code of an activity and adds the next action of a person.
pub fn explained(code: &str, message: &str, run: &str) -> Failure {
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
        ErrorCode::Model => "test the model with `interlock doctor`, or configure another one in judges.toml".into(),
    };
    Failure { code: code.name(), message: message.to_owned(), trace_id: run.to_owned(), next_step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_activities_become_one_of_the_seven() {
        let found = |code: &str| explained(code, "m", "r").code;
        assert_eq!(found("MODEL_FAILURE"), "E_MODEL");
        assert_eq!(found("TREE_CHANGED"), "E_CONFLICT");
        assert_eq!(found("E_CONFLICT"), "E_CONFLICT");
        assert_eq!(found("NEW_CODE"), "E_IO");
        let failure = explained("E_BUILD_FAIL", "it fails", "run-1");
        assert_eq!(failure.next_step, "look at the log of the command: `interlock report run-1` shows it");
    }
}

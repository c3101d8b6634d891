//! The failure of a turn as its user sees it: one of seven codes, and the next action of a person.
//!
//! Activities have their own error codes. The table translates them; a code that is already one of the seven stays.

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

/// The seven codes, each with the next action of a person.
const CODES: [(&str, &str); 7] = [
    ("E_POLICY_DENIED", "allow it in .interlock/policy.toml, or ask for a change that does not need it"),
    ("E_IO", "check that the files exist and that you may read and write them"),
    ("E_TOOL_TIMEOUT", "try a smaller step, or run the command yourself"),
    ("E_INVALID_ARGS", "say more precisely what should be done"),
    ("E_CONFLICT", "look at the files that changed in the meantime, then send the request again"),
    ("E_BUILD_FAIL", "look at the log of the failed command: `interlock report RUN` shows it"),
    ("E_MODEL", "check the judge with `interlock doctor`, or configure another model in judges.toml"),
];

/// The error codes of activities, each with the code that stands for it.
const TABLE: &[(&str, &str)] = &[
    ("POLICY_DENIED", "E_POLICY_DENIED"),
    ("CONFIRMATION_NEEDED", "E_POLICY_DENIED"),
    ("BAD_POLICY", "E_POLICY_DENIED"),
    ("SANDBOX", "E_POLICY_DENIED"),
    ("FAILED", "E_IO"),
    ("INTERRUPTED", "E_IO"),
    ("UNKNOWN_OUTCOME", "E_IO"),
    ("UNREACHABLE", "E_IO"),
    ("TIMEOUT", "E_TOOL_TIMEOUT"),
    ("LIMIT", "E_TOOL_TIMEOUT"),
    ("CANCELLED", "E_TOOL_TIMEOUT"),
    ("BAD_INPUT", "E_INVALID_ARGS"),
    ("BAD_OUTCOME", "E_INVALID_ARGS"),
    ("TREE_CHANGED", "E_CONFLICT"),
    ("MODEL_FAILURE", "E_MODEL"),
    ("BUDGET", "E_MODEL"),
    ("UNDECIDED", "E_MODEL"),
    ("BAD_SETTINGS", "E_MODEL"),
];

/// Translates the code of an activity and adds the next action. A code that the table does not know counts as an I/O
/// error.
pub fn explained(code: &str, message: &str, run: &str) -> Failure {
    let own = TABLE.iter().find(|(of_activity, _)| *of_activity == code).map_or(code, |(_, own)| *own);
    let (code, next_step) = CODES.iter().find(|(known, _)| *known == own).copied().unwrap_or(CODES[1]);
    let next_step = next_step.replace("RUN", run);
    Failure { code, message: message.to_owned(), trace_id: run.to_owned(), next_step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_leads_to_one_of_the_seven_codes() {
        for (code, own) in TABLE {
            assert!(CODES.iter().any(|(known, _)| known == own), "{code} → {own}");
            assert_eq!(explained(code, "m", "r").code, *own);
        }
    }

    #[test]
    fn own_codes_stay_and_unknown_ones_become_io_errors() {
        assert_eq!(explained("E_CONFLICT", "m", "r").code, "E_CONFLICT");
        assert_eq!(explained("NEW_CODE", "m", "r").code, "E_IO");
        let failure = explained("E_BUILD_FAIL", "it fails", "run-1");
        assert_eq!(failure.next_step, "look at the log of the failed command: `interlock report run-1` shows it");
    }
}

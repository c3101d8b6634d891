//! The judge mode: one word by which a machine selects the position in the chain of judges, so that it can escalate
//! from model to model and then to rules.
//!
//! The machine decides when to escalate. `last.rs` reads from the run's records which judge answered last, so that "the
//! next" is defined.

use interlock_chart::{catalogue::MEANING, model::Schema};
use serde_json::Value;

use crate::settings::{PERSON, RULES};

/// The field of `with` that holds the mode.
pub(crate) const FIELD: &str = "mode";

/// The values of the field. `rules_more_evidence` equals `rules` for a judge, because other activities gather the
/// evidence.
const WORDS: [(&str, Mode); 4] =
    [("model", Mode::Whole), ("next_model", Mode::Next), ("rules", Mode::Rules), ("rules_more_evidence", Mode::Rules)];

/// Returns the schema of the field.
pub(crate) fn schema() -> Schema {
    serde_json::json!({ "type": "string", "enum": WORDS.map(|(word, _)| word), MEANING: "setting" })
}

/// The position in the chain at which a judgement starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Starts with the first judge of the chain.
    #[default]
    Whole,
    /// Starts after the judge that gave the last verdict on this activity; after the first one if there is no verdict
    /// yet.
    Next,
    /// Asks only the rules.
    Rules,
}

impl Mode {
    /// Reads the mode from the `with` data of a machine.
    pub(crate) fn of(with: &Value) -> Result<Self, String> {
        let said = match with.get(FIELD) {
            None | Some(Value::Null) => return Ok(Mode::Whole),
            Some(said) => said,
        };
        let known = WORDS.iter().find(|(word, _)| said.as_str() == Some(word));
        known.map(|(_, mode)| *mode).ok_or_else(|| {
            let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
            format!("`with.{FIELD}` must be one of {}, not {said}", words.join(", "))
        })
    }

    /// Returns the judges to ask, in order. Rules are the last resort of every chain that does not end with a person.
    pub(crate) fn chain<'c>(self, whole: Vec<&'c str>, last: Option<&str>) -> Vec<&'c str> {
        let mut chain = match self {
            Mode::Whole => whole,
            Mode::Next => {
                let passed = last.and_then(|last| whole.iter().position(|name| *name == last)).unwrap_or(0);
                whole.into_iter().skip(passed + 1).collect()
            }
            Mode::Rules => vec![RULES],
        };
        if !chain.contains(&RULES) && chain.last() != Some(&PERSON) {
            chain.push(RULES);
        }
        chain
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mode_selects_the_start_of_the_chain() {
        type Names = &'static [&'static str];
        let cases: [(&str, Names, Option<&str>, Names); 11] = [
            ("model", &["a", "b"], None, &["a", "b", "rules"]),
            ("model", &["a", "b"], Some("a"), &["a", "b", "rules"]),
            ("next_model", &["a", "b", "c"], None, &["b", "c", "rules"]),
            ("next_model", &["a", "b", "c"], Some("b"), &["c", "rules"]),
            ("next_model", &["a", "b", "c"], Some("c"), &["rules"]),
            ("next_model", &["rules"], Some("rules"), &["rules"]),
            ("next_model", &["a", "person"], Some("a"), &["person"]),
            ("next_model", &["a", "rules", "person"], Some("a"), &["rules", "person"]),
            ("rules", &["a", "b"], None, &["rules"]),
            ("rules_more_evidence", &["a", "person"], None, &["rules"]),
            ("model", &["a", "person"], None, &["a", "person"]),
        ];
        for (word, whole, last, expected) in cases {
            let mode = Mode::of(&json!({ "mode": word })).unwrap();
            assert_eq!(mode.chain(whole.to_vec(), last), expected, "{word} {whole:?} {last:?}");
        }
    }

    #[test]
    fn unknown_mode_is_refused() {
        assert_eq!(Mode::of(&json!({})), Ok(Mode::Whole));
        let said = Mode::of(&json!({ "mode": "best" })).unwrap_err();
        assert_eq!(said, "`with.mode` must be one of model, next_model, rules, rules_more_evidence, not \"best\"");
    }
}

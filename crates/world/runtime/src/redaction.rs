//! Removes secrets from data before it enters the engine, so that the stored data is exactly the data that the machine
//! saw.
//!
//! There are three entry points: a run's input, an event that a caller sends, and the outcome of an attempt. Evidence
//! and live output are redacted by their writers (`interlock_journal::EvidenceStore`, `crates/world/process/src/output.rs`).
//! Patches are applied unredacted: `seals.rs`.

use interlock_chart::Value;
use interlock_redact::Redactor;

/// Returns the data without its secrets.
pub(crate) fn value(redactor: &Redactor, value: Value) -> Value {
    // Most data holds no secrets, and then nothing is copied.
    if !may_hold(redactor, &value) {
        return value;
    }
    let mut json = serde_json::Value::from(&value);
    match redactor.json(&mut json) {
        true => Value::from(json),
        false => value,
    }
}

/// Returns the variables that data names as the place of a secret, such as `password_env: LAB`.
pub(crate) fn variables(value: &Value) -> Vec<String> {
    let is_place = |name: &str| name.strip_suffix("_env").is_some_and(Redactor::is_secret_name);
    match value {
        Value::List(items) => items.iter().flat_map(variables).collect(),
        Value::Map(fields) => {
            let own = fields.iter().filter(|(name, _)| is_place(name)).filter_map(|(_, field)| field.as_str());
            own.map(str::to_owned).chain(fields.values().flat_map(variables)).collect()
        }
        _ => Vec::new(),
    }
}

/// Checks field names as well, because a name can mark its value as a secret.
fn may_hold(redactor: &Redactor, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
        Value::Str(text) => redactor.may_hold(text),
        Value::List(items) => items.iter().any(|item| may_hold(redactor, item)),
        Value::Map(fields) => fields.iter().any(|(name, field)| redactor.may_hold(name) || may_hold(redactor, field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_secrets_are_found_by_their_use() {
        let bmc = Value::map([("username", Value::from("ada")), ("password_env", Value::from("LAB"))]);
        let input = Value::map([("redfish", bmc), ("build_env", Value::from("CC")), ("list", Value::List([].into()))]);
        assert_eq!(variables(&input), ["LAB"]);
    }

    #[test]
    fn data_keeps_its_shape_and_loses_its_secrets() {
        let redactor = Redactor::default();
        let data = |password: &str| {
            Value::map([
                ("password", Value::from(password)),
                ("number", Value::Float(1.0)),
                ("list", Value::List([Value::Int(1), Value::Null, Value::Bool(true)].into())),
            ])
        };
        assert_eq!(value(&redactor, data("FAKEfake8")), data("[redacted: password]"));
        assert_eq!(value(&redactor, data("${PASSWORD}")), data("${PASSWORD}"));
    }
}

//! The arguments of a call: checked against the tool's schema, then read by name.
//!
//! The schemas of tools use few keywords (`type`, `minimum`, `maximum`, `minLength`, `required`), so the check here is
//! small and its messages name the argument.

use serde_json::{Map, Value as Json};

use crate::{ErrorCode, Tool, ToolError};

/// Arguments that fit the schema of their tool.
#[derive(Debug)]
pub(crate) struct Args(Map<String, Json>);

impl Args {
    /// Checks arguments. A null counts as missing, because some models send every argument.
    pub(crate) fn check(tool: &Tool, given: &Map<String, Json>) -> Result<Self, ToolError> {
        let empty = Map::new();
        let properties = tool.args_schema["properties"].as_object().unwrap_or(&empty);
        let given: Map<String, Json> = given.clone().into_iter().filter(|(_, value)| !value.is_null()).collect();
        for (name, value) in &given {
            let Some(schema) = properties.get(name) else { return Err(unknown(tool, name, properties)) };
            if let Some(why) = misfit(schema, value) {
                return Err(of(tool, ToolError::argument(name, why)));
            }
        }
        let required = tool.args_schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        match required.into_iter().find(|name| !given.contains_key(*name)) {
            Some(missing) => Err(of(tool, ToolError::argument(missing, "is missing"))),
            None => Ok(Args(given)),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Json::as_str)
    }

    /// Returns a required text. The check has made sure that it is there.
    pub(crate) fn need(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str, otherwise: usize) -> usize {
        let number = self.0.get(name).and_then(Json::as_u64);
        number.map_or(otherwise, |number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Json::as_bool).unwrap_or(false)
    }
}

fn of(tool: &Tool, error: ToolError) -> ToolError {
    ToolError { message: format!("{}: {}", tool.name, error.message), ..error }
}

fn unknown(tool: &Tool, name: &str, properties: &Map<String, Json>) -> ToolError {
    let names = properties.keys().map(String::as_str);
    let hint = interlock_suggest::did_you_mean_or_list(name, "its arguments are", names);
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    ToolError::new(ErrorCode::InvalidArgs, format!("{} has no argument `{name}`{hint}", tool.name))
}

/// Returns the reason why a value does not fit, to be read after the argument's name.
fn misfit(schema: &Json, value: &Json) -> Option<String> {
    let bound = |keyword: &str| schema[keyword].as_u64();
    match schema["type"].as_str() {
        Some("string") => {
            let Some(text) = value.as_str() else { return Some("must be a string".to_owned()) };
            (bound("minLength").is_some_and(|least| (text.len() as u64) < least)).then(|| "is empty".to_owned())
        }
        Some("integer") => {
            let Some(number) = value.as_u64() else { return Some("must be a whole number".to_owned()) };
            let (least, most) = (bound("minimum").unwrap_or(0), bound("maximum").unwrap_or(u64::MAX));
            (!(least..=most).contains(&number)).then(|| match most {
                u64::MAX => format!("must be at least {least}"),
                most => format!("must be between {least} and {most}"),
            })
        }
        Some("boolean") => (!value.is_boolean()).then(|| "must be true or false".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(name: &str, args: Json, expected: Result<(), &str>) {
        let tool = crate::find(name).unwrap();
        let found = Args::check(&tool, args.as_object().unwrap());
        assert_eq!(found.map(drop).map_err(|error| error.message), expected.map_err(str::to_owned), "{name} {args}");
    }

    #[test]
    fn arguments_that_do_not_fit_are_named() {
        check("read_file", json!({ "path": "a", "offset": 1, "limit": null }), Ok(()));
        check("read_file", json!({}), Err("read_file: `path` is missing"));
        check("read_file", json!({ "path": 1 }), Err("read_file: `path` must be a string"));
        check("read_file", json!({ "path": "" }), Err("read_file: `path` is empty"));
        check("read_file", json!({ "path": "a", "offset": 0 }), Err("read_file: `offset` must be at least 1"));
        check("read_file", json!({ "path": "a", "offset": "3" }), Err("read_file: `offset` must be a whole number"));
        check(
            "read_file",
            json!({ "path": "a", "ofset": 3 }),
            Err("read_file has no argument `ofset`; did you mean `offset`?"),
        );
        check("grep", json!({ "pattern": "a", "ignore_case": 1 }), Err("grep: `ignore_case` must be true or false"));
    }
}

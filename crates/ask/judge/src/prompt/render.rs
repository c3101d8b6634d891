//! Renders the prompt template (Jinja syntax); its variables are the facts that the machine passes on.

use minijinja::{AutoEscape, Environment, Output, State, UndefinedBehavior, Value, value::Serde};
use serde_json::Value as Json;

use super::Mark;

/// The maximum length of a value inside the text. A longer value is only referred to, because it appears in full among
/// the data.
const INLINE_CHARS_MAX: usize = 400;

/// The maximum number of template steps: enough for any text, and a bound for endless loops.
const FUEL: u64 = 100_000;

/// Renders a template. Every value that it inserts into the text is marked as data.
pub fn render(name: &str, template: &str, facts: &Json, mark: &Mark) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    let mark = mark.clone();
    environment.set_formatter(move |out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value| {
        out.write_str(&mark.inline(&shown(value)))?;
        Ok(())
    });
    let wrong = |error: minijinja::Error| {
        let line = error.line().map(|line| format!(" line {line}")).unwrap_or_default();
        let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        format!("{name}{line}: {}{detail}", error.kind())
    };
    environment.render_named_str(name, template, Serde(facts)).map_err(wrong)
}

/// Formats a value on one line; a long value is replaced by a reference to the data section.
fn shown(value: &Value) -> String {
    let text = match value.as_str() {
        Some(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        None => value.to_string(),
    };
    match text.chars().count() {
        0..=INLINE_CHARS_MAX => text,
        count => format!("{count} characters, given in full under Data"),
    }
}

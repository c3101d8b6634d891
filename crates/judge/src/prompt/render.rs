//! A prompt is a template in the language of Jinja; what the machine passes on are its variables.

use minijinja::{AutoEscape, Environment, Output, State, UndefinedBehavior, Value, value::Serde};
use serde_json::Value as Json;

use super::Mark;

/// The longest value that a sentence takes; a longer one is only pointed at, since it is among the data anyway.
const INLINE_CHARS_MAX: usize = 400;

/// Steps that a template may take: plenty for text, nothing for a loop without end.
const FUEL: u64 = 100_000;

/// A template filled in. Every value that it puts into the text is marked as data.
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

/// On one line, and as far as a sentence takes it.
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

//! A person as a judge: builds the question that is shown to the person and checks the answer. The same checks apply as
//! for models.

use interlock_activity::{HandledSignal, StandIn, StandInQuestion};
use interlock_chart::Value;

use crate::{
    Question, case,
    check::{self, Form},
    prompt::Mark,
};

/// Returns the question as readable text and the data that each signal must carry. `None` if the machine's input does
/// not make a valid question.
pub(crate) fn asked(of: &StandIn<'_>) -> Option<StandInQuestion> {
    let (question, form, mark) = question(of)?;
    let signals = form.shapes(&question).into_iter().map(|(name, data)| HandledSignal { name, data });
    Some(StandInQuestion { question: mark.taken_off(question.prompt.trim()), signals: signals.collect() })
}

/// Returns the problems of a person's answer; empty if it is valid.
pub(crate) fn misfits(of: &StandIn<'_>, signal: &str, data: &Value) -> Vec<String> {
    let Some((question, form, _)) = question(of) else { return Vec::new() };
    let problems = check::data(&form, &question, signal, &serde_json::Value::from(data));
    problems.iter().map(ToString::to_string).collect()
}

fn question(of: &StandIn<'_>) -> Option<(Question, Form, Mark)> {
    let mark = Mark::fresh().ok()?;
    let question = case::question(of, &mark).ok()?;
    let form = Form::new(&question).ok()?;
    Some((question, form, mark))
}

//! A person as a judge: what they are asked, and whether what they answer is a verdict. They are held to what models are held to.

use interlock_activity::{Asked, StandIn, Taken};
use interlock_chart::Value;

use crate::{
    Question, case,
    check::{self, Form},
    prompt::Mark,
};

/// The question in plain words, and what each signal has to carry. None where the machine gives nothing that could be asked.
pub(crate) fn asked(of: &StandIn<'_>) -> Option<Asked> {
    let (question, form, mark) = question(of)?;
    let signals = form.shapes(&question).into_iter().map(|(name, data)| Taken { name, data });
    Some(Asked { question: mark.taken_off(question.prompt.trim()), signals: signals.collect() })
}

/// What is wrong with an answer.
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

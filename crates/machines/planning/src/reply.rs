//! The replies of a server: parsed strictly, and compared with the workflow that the request was about.

use serde_json::{Value as Json, json};

use crate::Workflow;

/// The most bytes of all actions of a behavior: they are kept in the run's context.
const ACTIONS_BYTES_MAX: usize = 1024 * 1024;

/// The most characters of a broken line that a warning shows.
const LINE_CHARS_MAX: usize = 80;

/// The reply of a planner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    /// True if the target of the level is achieved.
    pub target_achieved: bool,
    /// True if the planner wants another behavior.
    pub continue_behaviors: bool,
    /// True if the planner wants a step that it cannot do to be completed as unachieved.
    pub completes_unachieved: bool,
    /// The reason why the target is not achieved; empty if the planner names none.
    pub reason: String,
    /// The planner's answer to the problem, if it names one.
    pub answer: Option<String>,
    /// The reason why the problem is not answered, if the planner says so.
    pub not_answered: Option<String>,
    /// The update of the context; null if there is none.
    pub context_update: Json,
    /// The filter of the next request to the generator; null if there is none.
    pub context_filter: Json,
    /// The proposed workflow: `{workflowTemplate, nextStageId?}`.
    pub workflow_update: Option<Json>,
    /// The proposed steps: `{stage_id, steps}`.
    pub stage_steps_update: Option<Json>,
}

/// The reason why a reply cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadReply {
    /// It does not have the form of the protocol.
    Form(String),
    /// It contradicts itself or the client's workflow.
    Inconsistent(String),
}

impl Planned {
    /// Reads a reply about a workflow. `feedback` is true if the request reported on a behavior: then the transition
    /// must be there.
    pub fn read(reply: &Json, workflow: &Workflow, feedback: bool) -> Result<Self, BadReply> {
        let form = |why: &str| BadReply::Form(why.to_owned());
        if !reply.is_object() {
            return Err(form("the reply is not an object"));
        }
        let flag = |at: &str| match reply.pointer(at) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(BadReply::Form(format!("{} is {other} instead of true or false", at.replace('/', ".")))),
        };
        let (whole, inner) = (flag("/targetAchieved")?, flag("/transition/target_achieved")?);
        let target_achieved = match (whole, inner) {
            (Some(whole), Some(inner)) if whole != inner => {
                let why = "targetAchieved and transition.target_achieved contradict each other";
                return Err(BadReply::Inconsistent(why.to_owned()));
            }
            (one, other) => one.or(other).ok_or_else(|| form("the reply has no targetAchieved"))?,
        };
        let continues = flag("/transition/continue_behaviors")?;
        if feedback && continues.is_none() && !target_achieved {
            return Err(BadReply::Inconsistent("the reply to feedback has no transition".to_owned()));
        }
        let completes_unachieved = match reply.pointer("/transition/on_unachieved").unwrap_or(&Json::Null) {
            Json::Null => false,
            one if one == "error" || one == "complete_step" => one == "complete_step",
            other => {
                let why = format!("transition.on_unachieved is {other} instead of error or complete_step");
                return Err(BadReply::Form(why));
            }
        };
        let text = |at: &str| match reply.pointer(at) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Some(other) => Err(BadReply::Form(format!("{} is {other} instead of a text", at.replace('/', ".")))),
        };
        let update = reply.get("context_update").cloned().unwrap_or_default();
        let part = |name: &str| update.get(name).filter(|part| !part.is_null()).cloned();
        let (workflow_update, stage_steps_update) = (part("workflow_update"), part("stage_steps_update"));
        let proposed = workflow_update.as_ref().map(check_workflow).transpose().map_err(BadReply::Inconsistent)?;
        if let Some(steps) = &stage_steps_update {
            // Steps can be meant for the workflow that the same reply proposes.
            let checked = workflow.check_steps(steps);
            let checked = checked.or_else(|why| proposed.as_ref().map_or(Err(why), |new| new.check_steps(steps)));
            checked.map_err(BadReply::Inconsistent)?;
        }
        Ok(Planned {
            target_achieved,
            continue_behaviors: continues.unwrap_or_default(),
            completes_unachieved,
            reason: text("/transition/reason")?.unwrap_or_default(),
            answer: text("/answer")?,
            not_answered: text("/not_answered")?,
            context_filter: reply.get("context_filter").cloned().unwrap_or_default(),
            context_update: update,
            workflow_update,
            stage_steps_update,
        })
    }
}

/// Checks a proposed workflow and the stage that it names as the next one.
fn check_workflow(update: &Json) -> Result<Workflow, String> {
    let template = update.get("workflowTemplate").ok_or("an update of the workflow has no workflowTemplate")?;
    let proposed = Workflow::parse(template)?;
    match update.get("nextStageId").and_then(Json::as_str) {
        Some(id) if proposed.stage(id).is_none() => {
            Err(format!("an update of the workflow goes on with the unknown stage `{id}`"))
        }
        _ => Ok(proposed),
    }
}

/// The actions that a generator returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generated {
    /// The actions, in order.
    pub actions: Vec<Json>,
    /// The lines that could not be read.
    pub warnings: Vec<String>,
}

impl Generated {
    /// Reads a complete body: one JSON document, or one action per line.
    pub fn read(body: &[u8]) -> Result<Self, BadReply> {
        let mut generated = Generated::default();
        match serde_json::from_slice::<Json>(body) {
            Ok(whole) => match actions(&whole) {
                Some(actions) => generated.actions = actions,
                None => return Err(BadReply::Form("the reply has neither actions nor an action".to_owned())),
            },
            Err(_) => generated.lines(&String::from_utf8_lossy(body)),
        }
        if generated.actions.is_empty() && !generated.warnings.is_empty() {
            return Err(BadReply::Form(generated.warnings.join("; ")));
        }
        let bytes: usize = generated.actions.iter().map(|action| action.to_string().len()).sum();
        if bytes > ACTIONS_BYTES_MAX {
            return Err(BadReply::Form(format!("the actions have {bytes} bytes, more than {ACTIONS_BYTES_MAX}")));
        }
        Ok(generated)
    }

    fn lines(&mut self, body: &str) {
        for (at, line) in body.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str::<Json>(line).ok().as_ref().and_then(actions) {
                Some(actions) => self.actions.extend(actions),
                None => {
                    let shown: String = line.trim().chars().take(LINE_CHARS_MAX).collect();
                    self.warnings.push(format!("line {} of the reply is not an action: {shown}", at + 1));
                }
            }
        }
    }
}

/// The lines of a streamed reply while they arrive, for people who watch. The actions are carried out when the reply is
/// complete: a stream that breaks off is asked for again as a whole.
#[derive(Clone, Debug, Default)]
pub struct Arriving(Vec<u8>);

impl Arriving {
    /// Takes bytes, and returns a short form of every action whose line is complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut short = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.0);
                    let found = serde_json::from_slice::<Json>(&line).ok().as_ref().and_then(actions);
                    short.extend(found.into_iter().flatten().map(|action| shown(&action)));
                }
                byte => self.0.push(*byte),
            }
        }
        short
    }
}

/// Returns an action in a few words: its name, and the first line of its content.
fn shown(action: &Json) -> String {
    let text = |name: &str| action.get(name).and_then(Json::as_str);
    let content = ["content", "title", "text", "codecell_id"].iter().find_map(|name| text(name)).unwrap_or_default();
    let line: String = content.lines().next().unwrap_or_default().chars().take(LINE_CHARS_MAX).collect();
    format!("{} {line}", text("action").or_else(|| text("type")).unwrap_or("?")).trim_end().to_owned()
}

/// Returns the actions of a document: `{"actions": […]}`, `{"action": {…}}`, or an action itself.
fn actions(document: &Json) -> Option<Vec<Json>> {
    if let Some(list) = document.get("actions").or(Some(document)).and_then(Json::as_array) {
        return list.iter().map(|item| item.is_object().then(|| unwrapped(item))).collect();
    }
    match document.get("action")? {
        Json::Object(_) | Json::String(_) => Some(vec![unwrapped(document)]),
        _ => None,
    }
}

fn unwrapped(item: &Json) -> Json {
    item.get("action").filter(|action| action.is_object()).unwrap_or(item).clone()
}

/// The reply that takes the place of a planner that cannot be reached: nothing is achieved and no behavior follows, so
/// that nothing loops.
pub fn fallback() -> Json {
    json!({ "targetAchieved": false, "transition": { "continue_behaviors": false, "target_achieved": false } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflow() -> Workflow {
        let template = json!({ "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "1" }] }] });
        Workflow::parse(&template).unwrap()
    }

    #[test]
    fn contradictions_and_unknown_parts_are_inconsistent() {
        let cases = [
            (json!({ "targetAchieved": true, "transition": { "target_achieved": false } }), "contradict"),
            (json!({ "targetAchieved": false }), "no transition"),
            (json!({ "targetAchieved": true, "context_update": { "workflow_update": {} } }), "no workflowTemplate"),
            (
                json!({ "targetAchieved": true, "context_update": { "workflow_update": { "nextStageId": "x",
                "workflowTemplate": { "stages": [{ "id": "b", "steps": [{ "id": "1" }] }] } } } }),
                "unknown stage `x`",
            ),
            (
                json!({ "targetAchieved": true, "context_update": { "stage_steps_update": { "stage_id": "z",
                "steps": [{ "id": "1" }] } } }),
                "unknown stage `z`",
            ),
        ];
        for (reply, expected) in cases {
            match Planned::read(&reply, &workflow(), true) {
                Err(BadReply::Inconsistent(why)) => assert!(why.contains(expected), "{why}"),
                other => panic!("{reply}: {other:?}"),
            }
        }
    }

    #[test]
    fn replies_of_another_form_are_refused() {
        let odd = json!({ "targetAchieved": false, "transition": { "on_unachieved": true } });
        for reply in [json!([]), json!({}), json!({ "targetAchieved": "false" }), json!({ "targetAchieved": 1 }), odd] {
            assert!(matches!(Planned::read(&reply, &workflow(), false), Err(BadReply::Form(_))), "{reply}");
        }
    }

    #[test]
    fn flags_are_read_from_either_place() {
        let read = |reply: Json| {
            let planned = Planned::read(&reply, &workflow(), false).unwrap();
            (planned.target_achieved, planned.continue_behaviors)
        };
        assert_eq!(read(json!({ "targetAchieved": true })), (true, false));
        let both = json!({ "transition": { "continue_behaviors": true, "target_achieved": false } });
        assert_eq!(read(both), (false, true));
        assert_eq!(read(fallback()), (false, false));
    }

    #[test]
    fn an_action_is_shown_when_its_line_is_complete() {
        let mut arriving = Arriving::default();
        assert_eq!(arriving.push(b"{\"action\": {\"action\": \"new_section\", "), [""; 0]);
        assert_eq!(arriving.push(b"\"content\": \"Load\\nit\"}}\n\nodd\n{\"act"), ["new_section Load"]);
        assert_eq!(arriving.push(b"ion\": \"finish_thinking\"}\n"), ["finish_thinking"]);
    }

    #[test]
    fn actions_are_read_from_a_document_and_from_lines() {
        let add = json!({ "action": "add", "shot_type": "dialogue", "content": "hi" });
        let cases = [
            format!("{{\"actions\":[{add}]}}"),
            format!("{{\n  \"actions\": [\n    {add}\n  ]\n}}"),
            format!("{{\"action\":{add}}}"),
            format!("\n\n{{\"action\":{add}}}\r\n\n"),
            format!("{{\"action\":{add}}}\n{{\"act"),
            format!("nonsense\n{add}\n"),
        ];
        for body in cases {
            let generated = Generated::read(body.as_bytes()).unwrap();
            assert_eq!(generated.actions, std::slice::from_ref(&add), "{body}");
            assert_eq!(generated.warnings.len(), usize::from(body.contains("nonsense") || body.ends_with("act")));
        }
        assert_eq!(Generated::read(b"{\"actions\":[]}").unwrap(), Generated::default());
        assert_eq!(Generated::read(b"").unwrap(), Generated::default());
        for body in ["<html>", "{\"actions\": 3}", "{\"actions\": [3]}", "7"] {
            assert!(matches!(Generated::read(body.as_bytes()), Err(BadReply::Form(_))), "{body}");
        }
    }
}

//! Works through the rules' workflow as the machine does, with a real Python that executes the cells.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use interlock_planning::{Workflow, rules, variable};
use interlock_testkit_activity::parts;
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

/// The most behaviors of a step.
const BEHAVIORS_MAX: u64 = 10;

/// A project with a table, and what a run is given.
pub(crate) struct Given<'g> {
    pub(crate) file: Option<(&'g str, &'g [u8])>,
    pub(crate) problem: &'g str,
    pub(crate) csv_file_path: Option<&'g str>,
    pub(crate) workflow: Option<Json>,
    /// Packages that cannot be imported.
    pub(crate) without: &'g [&'g str],
}

impl<'g> Given<'g> {
    pub(crate) fn new(table: &'g str, problem: &'g str) -> Self {
        Given::bytes(table.as_bytes(), problem)
    }

    pub(crate) fn bytes(table: &'g [u8], problem: &'g str) -> Self {
        Given { file: Some(("table.csv", table)), problem, csv_file_path: None, workflow: None, without: &[] }
    }
}

/// The results of a workflow that was carried out.
#[derive(Debug)]
pub(crate) struct Done {
    /// The text of all outputs.
    pub(crate) output: String,
    /// The sentences of the conclusion.
    pub(crate) conclusion: String,
    /// The steps that were not achieved.
    pub(crate) unachieved: Vec<String>,
    /// The text cells.
    pub(crate) texts: String,
}

struct Python {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Python {
    fn start(folder: &Path, without: &[&str]) -> Option<Self> {
        let python = parts::installed("jupyter.sh")?.join("bin/python");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new(python);
        command.arg(here.join("tests/session.py")).arg(here.join("../notebook/src/variables.py"));
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        for name in without {
            command.env(format!("WITHOUT_{}", name.to_uppercase()), "1");
        }
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Some(Python { process, input, output })
    }

    fn execute(&mut self, code: &str) -> Json {
        writeln!(self.input.as_mut().unwrap(), "{}", json!(code)).unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

struct Walk<'g> {
    given: &'g Given<'g>,
    /// Ends before its directory is removed.
    python: Python,
    folder: TempDir,
    remembered: Map<String, Json>,
    variables: Map<String, Json>,
    done: Done,
}

/// Runs the rules to their end. A cell that fails is a failure of the test. Returns `None` if Python is not installed.
pub(crate) fn run(given: &Given<'_>) -> Option<Done> {
    let mut walk = Walk::begin(given)?;
    let workflow = Workflow::parse(&given.workflow.clone().unwrap_or_else(rules::workflow)).unwrap();
    for step in workflow.stages.iter().flat_map(|stage| &stage.steps) {
        if !walk.step(&step.id, &step.goal) {
            walk.done.unachieved.push(step.id.clone());
        }
    }
    Some(walk.done)
}

/// Asks several problems of a table, in one kernel without packages. Returns the answers, or the reasons why there is
/// none. Returns `None` if Python is not installed.
pub(crate) fn ask(file: &str, table: &[u8], problems: &[&str]) -> Option<Vec<Result<String, String>>> {
    let given = Given { file: Some((file, table)), without: &["pandas", "matplotlib"], ..Given::new("", "") };
    let mut walk = Walk::begin(&given)?;
    walk.step("load", "");
    let ask = |problem: &&str| {
        walk.remembered.insert("problem_description".to_owned(), json!(problem));
        walk.step("question", "");
        let is_answered = walk.step("answer", "");
        let told = &walk.remembered[if is_answered { "problem_answer" } else { "problem_unanswered" }];
        let told = told.as_str().unwrap().to_owned();
        if is_answered { Ok(told) } else { Err(told) }
    };
    Some(problems.iter().map(ask).collect())
}

impl<'g> Walk<'g> {
    fn begin(given: &'g Given<'g>) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        if let Some((name, bytes)) = given.file {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let python = Python::start(folder.path(), given.without)?;
        let mut remembered = Map::from_iter([("problem_description".to_owned(), json!(given.problem))]);
        remembered.extend(given.csv_file_path.map(|path| ("csv_file_path".to_owned(), json!(path))));
        let done =
            Done { output: String::new(), conclusion: String::new(), unachieved: Vec::new(), texts: String::new() };
        Some(Walk { given, folder, python, remembered, variables: Map::new(), done })
    }

    fn request(&self, state: &str, step: (&str, &str), iteration: u64, effects: &[String]) -> Json {
        let mut variables = self.remembered.clone();
        variables.extend(self.variables.iter().map(|(name, value)| (name.clone(), variable::short(value))));
        let mut request = json!({ "observation": {
            "location": {
                "current": { "stage_id": "s", "step_id": step.0, "behavior_iteration": iteration },
                "progress": { "stages": { "remaining": [] }, "steps": { "completed": [], "remaining": [] } },
                "goals": { "stage": "Do it", "step": step.1 },
            },
            "context": { "variables": variables, "effects": { "current": effects }, "FSM": { "state": state } },
        } });
        if state == "behavior_completed" {
            request["behavior_feedback"] = json!({});
        }
        request
    }

    /// Works on a step. Returns true if it is achieved.
    fn step(&mut self, id: &str, goal: &str) -> bool {
        let first = rules::planning(&self.request("step_running", (id, goal), 0, &[]));
        if first["targetAchieved"] == true {
            return true;
        }
        let mut effects = Vec::new();
        for iteration in 1..=BEHAVIORS_MAX {
            let request = self.request("behavior_running", (id, goal), iteration, &effects);
            let mut actions = Vec::new();
            let csv = || rules::find_csv(&request, Some(self.folder.path()));
            rules::generate(&request, csv, &mut |action| {
                actions.push(action);
                true
            });
            effects = self.carry_out(id, &actions);
            let reply = rules::planning(&self.request("behavior_completed", (id, goal), iteration, &effects));
            let kept = reply.pointer("/context_update/variables").and_then(Json::as_object).cloned();
            self.remembered.extend(kept.unwrap_or_default());
            if reply["targetAchieved"] == true {
                return true;
            }
            if reply["transition"]["continue_behaviors"] == false {
                assert_eq!(reply["transition"]["on_unachieved"], "complete_step", "{id}: {effects:?}");
                return false;
            }
        }
        panic!("the step {id} does not end: {effects:?}");
    }

    fn carry_out(&mut self, step: &str, actions: &[Json]) -> Vec<String> {
        let (mut effects, mut cell) = (Vec::new(), "");
        for action in actions {
            let content = action["content"].as_str().unwrap_or_default();
            match (action["action"].as_str().unwrap(), action["shot_type"].as_str().unwrap_or_default()) {
                ("add", "action") => cell = content,
                ("add", _) => self.done.texts += &format!("{content}\n"),
                ("exec", _) => {
                    let answer = self.python.execute(cell);
                    let text = answer["text"].as_str().unwrap().to_owned();
                    assert_eq!(answer["error"], Json::Null, "{}: {step}: {cell}\n{text}", self.given.problem);
                    assert!(!text.contains("Warning"), "{step}: {text}");
                    self.variables = answer["variables"].as_object().unwrap().clone();
                    self.done.output += &text;
                    if cell.contains("conclusions = ") {
                        self.done.conclusion = text.clone();
                    }
                    effects.push(text);
                }
                _ => {}
            }
        }
        effects
    }
}

//! Executes a cell: the kernel is started or recovered if needed, the output goes into the document, and pictures are
//! saved beside it.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{io::Write as _, path::Path, time::Duration};

use interlock_activity::{Attempt, Outcome, OutcomeKind};
use interlock_chart::{Value, counted};
use interlock_journal::Evidence;
use interlock_process::Sandbox;
use interlock_sandbox::Rules;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::edit::{marks, problem};
use crate::{
    document::{Document, Mark, replace_file},
    kernel::{self, Ended, Kernel, Kernelspec, Message},
    output::{self, Finished, Outputs, joined, lines, one_line},
    variables,
};

/// The name of the evidence that says which cells a lost kernel had executed.
const LOST: &str = "kernel-lost";

/// The time that reading variables may take after a cell that failed.
const VARIABLES_MAX: Duration = Duration::from_secs(10);

/// The number of names that a kernel other than Python's is asked about.
const NAMES_MAX: usize = 20;

/// The shortest time between two lines of progress.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// The result of an executed cell.
#[derive(Debug)]
pub(crate) struct Executed {
    /// One sentence.
    pub(crate) summary: String,
    /// The texts of the outputs.
    pub(crate) effects: Vec<String>,
    /// The large outputs and the pictures.
    pub(crate) evidence: Vec<Evidence>,
    /// The variables of the kernel, if they could be read.
    pub(crate) variables: Option<Json>,
    /// True if the cell raised an error.
    pub(crate) is_failed: bool,
    /// The error that the activity ends with, if the kernel or a limit failed.
    pub(crate) failure: Option<Outcome>,
    /// True if the kernel can be used again.
    pub(crate) is_kernel_usable: bool,
}

/// A cell to execute.
pub(crate) struct Cell<'a> {
    pub(crate) attempt: &'a Attempt,
    pub(crate) folder: &'a Path,
    pub(crate) path: &'a Path,
    pub(crate) at: usize,
    pub(crate) mark: &'a Mark,
    pub(crate) limit: Duration,
    /// The names of variables that the user gave, and of those that were found before.
    pub(crate) names: Vec<String>,
}

/// Starts a kernel. Cells that a lost kernel had executed are executed again if `reruns` is set; otherwise the error
/// lists them, and the machine lets a person decide.
pub(crate) async fn kernel(
    attempt: &Attempt,
    sandbox: &Sandbox,
    rules: Rules,
    spec: Kernelspec,
    document: &Document,
    limit: Duration,
    reruns: bool,
) -> Result<(Kernel, Option<String>), Outcome> {
    let lost = executed(document, &attempt.run);
    if !lost.is_empty() && !reruns {
        return Err(lost_error(
            attempt,
            &lost,
            "the kernel of this run is gone: it ended with the process that had started it",
        )
        .await);
    }
    attempt.host.progress(&attempt.run, attempt.activity, &format!("starting the kernel {}", spec.display_name));
    let mut kernel = kernel::start(attempt, sandbox, rules, spec).await?;
    kernel.works_for(attempt);
    for (id, code) in &lost {
        attempt.host.progress(&attempt.run, attempt.activity, &format!("executing {id} again"));
        let request = request(code, json!({}));
        match kernel.execute(&request, limit, &mut attempt.cancel.clone(), &mut drop).await {
            Ended::Replied(_) => {}
            Ended::Cancelled { .. } => {
                return Err(Outcome::cancelled("it was stopped while cells were executed again"));
            }
            Ended::TimedOut { .. } => {
                return Err(Outcome::error(problem::CELL_TIMEOUT, too_long(id, limit, "a repeated cell")));
            }
            Ended::Died(death) => {
                let message = format!("the kernel died when {id} was executed again: {}", death.why);
                return Err(Outcome::error(
                    if death.is_limit { problem::LIMIT } else { problem::KERNEL_LOST },
                    message,
                ));
            }
        }
    }
    Ok((kernel, notice(document, &attempt.run, lost.len())))
}

/// Returns the notice that a new kernel does not have the state that the notebook suggests.
fn notice(document: &Document, run: &str, again: usize) -> Option<String> {
    let is_of_others = |mark: &Mark| mark.run != run && mark.executed > 0;
    let others = document.cells().iter().filter(|cell| cell.mark.as_ref().is_some_and(is_of_others)).count();
    match (again, others) {
        (0, 0) => None,
        (0, others) => {
            let others = counted(others as u64, "cell", "cells");
            Some(format!("[The kernel is new: it does not have the state of {others} that other runs have executed.]"))
        }
        (again, _) => {
            let again = counted(again as u64, "cell was", "cells were");
            Some(format!("[The kernel was lost; {again} executed again in a new one.]"))
        }
    }
}

/// Returns true if the run has executed a cell.
pub(crate) fn has_executed(document: &Document, run: &str) -> bool {
    marks(document, run).any(|mark| mark.executed > 0)
}

/// The cells that a run has executed, in the order of their execution: ids and code.
fn executed(document: &Document, run: &str) -> Vec<(String, String)> {
    let cells = document.cells().iter().enumerate();
    let own = cells.filter_map(|(at, cell)| {
        let mark = cell.mark.as_ref().filter(|mark| mark.run == run && mark.executed > 0)?;
        Some((mark.executed, at, cell.id.clone()))
    });
    let mut own: Vec<_> = own.collect();
    own.sort();
    own.into_iter().filter_map(|(_, at, id)| Some((id, joined(&document.cell(at)?["source"])))).collect()
}

fn list(lost: &[(String, String)]) -> Json {
    lost.iter().map(|(id, code)| json!({ "id": id, "source": output::cut(code, 120) })).collect()
}

/// Returns the error of a lost kernel with the cells that would be executed again.
async fn lost_error(attempt: &Attempt, lost: &[(String, String)], why: &str) -> Outcome {
    let ids: Vec<_> = lost.iter().map(|(id, _)| id.as_str()).collect();
    let message = match ids.len() {
        0 => format!("{why}. No cell has to be executed again"),
        count => {
            let cells = counted(count as u64, "cell", "cells");
            format!("{why}. To go on, {cells} must be executed again: {}", output::cut(&ids.join(", "), 400))
        }
    };
    failure(attempt, problem::KERNEL_LOST, &message, lost).await
}

/// Returns an error after which the kernel is gone, with the cells that it had executed.
async fn failure(attempt: &Attempt, code: &str, message: &str, lost: &[(String, String)]) -> Outcome {
    let cells = list(lost);
    let (store, text) = (attempt.evidence.clone(), cells.to_string());
    let kept = tokio::task::spawn_blocking(move || store.put(LOST, "application/json", text.as_bytes())).await;
    let shown: Vec<_> = cells.as_array().into_iter().flatten().take(50).cloned().collect();
    let data = json!({ "code": code, "message": message, "cells": shown });
    let outcome = Outcome::from(OutcomeKind::Error { data: Value::from(data) });
    match kept {
        Ok(Ok(kept)) => outcome.with([kept]),
        _ => outcome,
    }
}

fn too_long(id: &str, limit: Duration, what: &str) -> String {
    format!("{id} did not end within {} seconds ({what})", limit.as_secs_f64())
}

fn request(code: &str, expressions: Json) -> Json {
    json!({
        "code": code, "silent": false, "store_history": true, "user_expressions": expressions, "allow_stdin": false,
        "stop_on_error": false,
    })
}

impl Cell<'_> {
    /// Executes the cell and writes its output into the document. The document is not saved.
    pub(crate) async fn execute(&self, kernel: &mut Kernel, document: &mut Document) -> Result<Executed, Outcome> {
        let broken = |why: &str| Outcome::error(problem::NOTEBOOK, format!("{}: {why}", self.path.display()));
        let mut cell = document.cell(self.at).ok_or_else(|| broken("the cell cannot be read"))?;
        let id = document.cells()[self.at].id.clone();
        let code = joined(&cell["source"]);
        let language = language(kernel);
        self.tell(&format!("executing {id}: {}", one_line(code.lines().next().unwrap_or_default())));
        let mut outputs = Outputs::default();
        let mut show = Show::new(self.attempt);
        let mut take = |message: Message| {
            show.show(&message);
            outputs.take(message);
        };
        let asked = request(&code, variables::question(&language));
        let ended = kernel.execute(&asked, self.limit, &mut self.attempt.cancel.clone(), &mut take).await;
        show.finish();
        let failed = outputs.failure();
        let (finished, pictures) = self.finish(outputs, &id).await?;
        let mut effects = output::effects(&finished.outputs, &pictures);
        let reply = if let Ended::Replied(reply) = &ended { reply.clone() } else { Json::Null };
        let (failure, note) = self.failure(&ended, &id, document).await;
        effects.extend(note.clone());
        let count = finished.outputs.len();
        let is_done = matches!(ended, Ended::Replied(_));
        self.write(&mut cell, document, &reply, finished.outputs, note, is_done);
        let known = match is_done {
            true => self.variables(kernel, &language, &code, &reply).await,
            false => None,
        };
        let summary = match &failed {
            Some(error) => format!("executed {id}: {error}"),
            None => format!("executed {id}: {count} output{}", if count == 1 { "" } else { "s" }),
        };
        let summary = match pictures.is_empty() {
            true => summary,
            false => format!("{summary}; pictures: {}", output::cut(&pictures.join(", "), 400)),
        };
        let is_kernel_usable = match ended {
            Ended::Replied(_) => true,
            Ended::Died(_) => false,
            Ended::TimedOut { has_reacted } | Ended::Cancelled { has_reacted } => has_reacted,
        };
        let evidence = finished.evidence;
        let is_failed = failed.is_some();
        Ok(Executed { summary, effects, evidence, variables: known, is_failed, failure, is_kernel_usable })
    }

    fn tell(&self, text: &str) {
        self.attempt.host.progress(&self.attempt.run, self.attempt.activity, text);
    }

    /// Stores the large outputs, and saves the pictures beside the notebook. Returns the paths of the pictures too.
    async fn finish(&self, outputs: Outputs, id: &str) -> Result<(Finished, Vec<String>), Outcome> {
        let (store, folder) = (self.attempt.evidence.clone(), self.folder.to_owned());
        let (place, id) = (self.path.with_extension("files"), id.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            let wrong = |why| Outcome::not_stored(format!("the output of a cell could not be stored: {why}"));
            let finished = outputs.finish(&store, &id).map_err(wrong)?;
            let paths = save(&folder, &place, &finished)?;
            Ok((finished, paths))
        });
        work.await.unwrap_or_else(|error| Err(Outcome::error(problem::NOTEBOOK, error.to_string())))
    }

    /// Returns the error for an execution that did not end by itself, and the note for the document.
    async fn failure(&self, ended: &Ended, id: &str, document: &Document) -> (Option<Outcome>, Option<String>) {
        let lost = executed(document, &self.attempt.run);
        let outcome = match ended {
            Ended::Replied(_) => return (None, None),
            Ended::Died(death) if death.is_limit => {
                failure(
                    self.attempt,
                    problem::LIMIT,
                    &format!("the kernel was ended while {id} ran: {}", death.why),
                    &lost,
                )
                .await
            }
            Ended::Died(death) => {
                lost_error(self.attempt, &lost, &format!("the kernel died while {id} ran: {}", death.why)).await
            }
            Ended::TimedOut { has_reacted: true } => Outcome::error(
                problem::CELL_TIMEOUT,
                too_long(id, self.limit, "it was interrupted; the kernel goes on"),
            ),
            Ended::TimedOut { has_reacted: false } => {
                let message = too_long(id, self.limit, "it ignored the interrupt, so its kernel was ended");
                failure(self.attempt, problem::CELL_TIMEOUT, &message, &lost).await
            }
            Ended::Cancelled { .. } => Outcome::cancelled(format!("{id} was interrupted")),
        };
        let note = format!("[Interlock: {}]\n", outcome.message());
        (Some(outcome), Some(note))
    }

    fn write(
        &self,
        cell: &mut Json,
        document: &mut Document,
        reply: &Json,
        mut outputs: Vec<Json>,
        note: Option<String>,
        is_done: bool,
    ) {
        outputs.extend(note.map(|note| json!({ "name": "stderr", "output_type": "stream", "text": lines(&note) })));
        cell["outputs"] = Json::Array(outputs);
        cell["execution_count"] = output::count(&reply["execution_count"]);
        let last = marks(document, &self.attempt.run).map(|mark| mark.executed).max().unwrap_or(0);
        let before = document.cells()[self.at].mark.clone();
        let executed = if is_done { last + 1 } else { 0 };
        let mark = match before.filter(|mark| mark.role.is_some()) {
            Some(own) => Mark { executed, run: self.attempt.run.to_string(), ..own },
            None => Mark { executed, ..self.mark.clone() },
        };
        mark.write(cell);
        document.replace(self.at, cell);
    }

    async fn variables(&self, kernel: &mut Kernel, language: &str, code: &str, reply: &Json) -> Option<Json> {
        let mut cancel = self.attempt.cancel.clone();
        if variables::is_python(language) {
            if let Some(known) = variables::answer(reply) {
                return Some(known);
            }
            // After a cell that failed, Jupyter evaluates no expression.
            let mut asked = request("", variables::question(language));
            (asked["silent"], asked["store_history"]) = (json!(true), json!(false));
            return match kernel.execute(&asked, VARIABLES_MAX, &mut cancel, &mut drop).await {
                Ended::Replied(reply) => variables::answer(&reply),
                _ => None,
            };
        }
        let mut found = serde_json::Map::new();
        let mut names = variables::assigned(code);
        let known: Vec<_> = self.names.iter().filter(|name| !names.contains(name)).cloned().collect();
        names.extend(known);
        for name in names.into_iter().take(NAMES_MAX) {
            if let Some(text) = kernel.inspect(&name, VARIABLES_MAX, &mut cancel).await {
                found.insert(name, variables::inspected(&text));
            }
        }
        (!found.is_empty()).then_some(Json::Object(found))
    }
}

/// Saves the pictures of a cell in the directory `place`. Returns their paths. May block.
fn save(folder: &Path, place: &Path, finished: &Finished) -> Result<Vec<String>, Outcome> {
    let each = finished.pictures.iter().map(|picture| {
        let path = place.join(&picture.name);
        let wrong = |error| Outcome::error(problem::NOTEBOOK, format!("{}: {error}", path.display()));
        replace_file(folder, &path, &picture.content).map_err(wrong)?;
        Ok(path.to_string_lossy().into_owned())
    });
    each.collect()
}

/// Returns the language that the kernel itself names, or its kernelspec.
fn language(kernel: &Kernel) -> String {
    kernel.language_info["name"].as_str().unwrap_or(&kernel.spec.language).to_owned()
}

/// Shows output while it arrives: in the attempt's live file, and its last line as progress. Secrets are removed.
struct Show<'a> {
    attempt: &'a Attempt,
    file: Option<std::fs::File>,
    redaction: interlock_redact::Stream,
    told: Option<Instant>,
}

impl<'a> Show<'a> {
    fn new(attempt: &'a Attempt) -> Self {
        if let Some(folder) = attempt.live.parent() {
            // Watching is optional: without the file the cell runs anyway.
            let _ = std::fs::create_dir_all(folder);
        }
        let file = std::fs::File::options().create(true).append(true).open(&attempt.live).ok();
        Show { attempt, file, redaction: interlock_redact::Stream::new(attempt.evidence.redactor()), told: None }
    }

    fn show(&mut self, message: &Message) {
        let Some(text) = Outputs::shown(message) else { return };
        let redacted = self.redaction.push(text.as_bytes());
        self.write(&redacted);
        let is_due = self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
        let line = String::from_utf8_lossy(&redacted);
        let line = one_line(line.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default());
        if is_due && !line.is_empty() {
            self.told = Some(Instant::now());
            self.attempt.host.progress(&self.attempt.run, self.attempt.activity, &line);
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file {
            let _ = file.write_all(bytes);
        }
    }

    fn finish(mut self) {
        let rest = self.redaction.finish();
        self.write(&rest);
    }
}

//! The planner and the generator that need no model: rules for workflows about a table.
//!
//! Both answer from the request alone. A step is achieved when the variable that its recipe makes exists in the kernel; a
//! heading or an intention shows nothing. A step that no recipe fits is not done: the notebook says so, and the planner
//! wants it to be completed as unachieved.

mod columns;
mod find;
mod grammar;
mod names;
mod question;
mod recipe;
mod shapes;
mod tokens;

use interlock_journal::Hash;
use serde_json::{Value as Json, json};

use columns::Columns;
pub use find::{Found, find_csv};
use question::Question;
use recipe::{NO_TABLE, NOT_DONE, Recipe, UNKNOWN};

/// The most behaviors of a step that the rules ask for.
const BEHAVIORS_MAX: u64 = 4;

/// The longest part of a problem that is read.
const PROBLEM_CHARS_MAX: usize = 2_000;

/// The number of characters that identify a problem.
const ID_CHARS: usize = 8;

/// The longest title of a notebook.
const TITLE_CHARS_MAX: usize = 80;

/// The variable in which the planner keeps the list of columns that a cell has printed.
const LISTED: &str = "table_columns";

/// The variable in which the planner keeps the steps that failed: errors by id.
const FAILED: &str = "steps_failed";

/// The variables in which the planner keeps the answer that a cell has printed, or the reason why there is none.
const ANSWER: &str = "problem_answer";
const UNANSWERED: &str = "problem_unanswered";

/// The variable in which the planner keeps the reason why there is no table, and the end of the line with it.
const LACK: &str = "table_lack";
const NO_TABLE_END: &str = ". So nothing is analysed.";

/// The line before an answer, and the beginning of the line that says why there is none.
const ANSWERED: &str = "Answer:";
const NOT_ANSWERED: &str = "Not answered: ";

/// The kernel's variable that says whether the answer answers the problem.
const IS_ANSWERED: &str = "answered";

/// The beginning of the line that a cell prints if its step is not possible with this table.
const IMPOSSIBLE: &str = "Not done: ";

/// The end of the id of the step that designs a workflow.
const DESIGN: &str = "design_workflow";

/// The expression that finds a table when the notebook runs, if the request names none.
const ANY_CSV: &str = r#"next(iter(sorted(__import__("glob").glob("**/*.csv", recursive=True))), None)"#;

/// Returns the built-in workflow for a table: load, look, clean, find the question, describe, answer, plot, conclude.
pub fn workflow() -> Json {
    let step = |id: &str, title: &str, goal: &str| json!({ "step_id": id, "title": title, "description": goal });
    json!({
        "id": "tabular",
        "name": "Analysis of a table",
        "stages": [
            { "id": "data", "title": "Data", "description": "Load the table and see what it holds", "steps": [
                step("load", "Load", "Load the table from its file"),
                step("look", "Look", "Show the columns, their types and the missing values"),
                step("clean", "Clean", "Count repeated rows and missing values"),
                step("question", "Question", "Find what the problem asks of the table"),
            ] },
            { "id": "analysis", "title": "Analysis", "description": "Describe the table in numbers and pictures", "steps": [
                step("describe", "Describe", "Describe every column in numbers"),
                step("answer", "Answer", "Answer the problem with figures"),
                step("plot", "Plot", "Plot the distributions"),
            ] },
            { "id": "conclusion", "title": "Conclusion", "description": "Say what was found", "steps": [
                step("conclude", "Conclude", "List the findings"),
            ] },
        ],
    })
}

/// The parts of a request that the rules read.
struct Seen<'r> {
    state: &'r str,
    step_id: &'r str,
    goal: &'r str,
    iteration: u64,
    variables: &'r Json,
    effects: Vec<&'r str>,
    request: &'r Json,
}

impl<'r> Seen<'r> {
    fn of(request: &'r Json) -> Self {
        let text = |at: &str| request.pointer(at).and_then(Json::as_str).unwrap_or_default();
        let effects = request.pointer("/observation/context/effects/current").and_then(Json::as_array);
        Seen {
            state: text("/observation/context/FSM/state"),
            step_id: text("/observation/location/current/step_id"),
            goal: text("/observation/location/goals/step"),
            iteration: request
                .pointer("/observation/location/current/behavior_iteration")
                .and_then(Json::as_u64)
                .unwrap_or_default(),
            variables: request.pointer("/observation/context/variables").unwrap_or(&Json::Null),
            effects: effects.into_iter().flatten().filter_map(Json::as_str).collect(),
            request,
        }
    }

    fn list(&self, at: &str) -> &'r [Json] {
        self.request.pointer(at).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn has(&self, variable: &str) -> bool {
        let is_old = match variable {
            "question" => self.is_new_problem(),
            // The answer of an earlier workflow was forgotten with it.
            "answers" => self.is_new_problem() || self.told().is_none(),
            _ => false,
        };
        self.variables.get(variable).is_some() && !is_old
    }

    /// Returns the answer that a cell has printed in this behavior or before, or the reason why there is none.
    fn told(&self) -> Option<Result<String, String>> {
        let is_answered = self.variables.get(IS_ANSWERED).and_then(Json::as_bool).unwrap_or_default();
        let printed = self.effects.iter().rev().find_map(|effect| printed(effect));
        let answer = printed.as_ref().and_then(|printed| printed.clone().ok()).or_else(|| self.known(ANSWER));
        let reason = printed.and_then(Result::err).or_else(|| self.known(UNANSWERED));
        match answer.filter(|_| is_answered) {
            Some(answer) => Some(Ok(answer)),
            None => reason.map(Err),
        }
    }

    fn known(&self, variable: &str) -> Option<String> {
        Some(self.text(variable).to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the columns that a cell has listed, in this behavior or before.
    fn columns(&self) -> Option<Columns> {
        let listed = Columns::find(&self.effects).unwrap_or_else(|| self.text(LISTED));
        Columns::read(listed)
    }

    /// Returns true if the kernel has answered another problem before. The cell of the question then forgets its results.
    fn is_new_problem(&self) -> bool {
        let known = self.text("problem_id");
        !known.is_empty() && known != self.problem_id()
    }

    fn problem_id(&self) -> String {
        Hash::of(self.text("problem_description").as_bytes()).to_string().chars().take(ID_CHARS).collect()
    }

    fn recipe(&self) -> &'static Recipe {
        self.fitting(Recipe::of(self.step_id, self.goal))
    }

    /// Returns the recipe that answers the question of this table in the place of the general one. After an error the
    /// general one is used.
    fn fitting(&self, recipe: &'static Recipe) -> &'static Recipe {
        match recipe.kind {
            "answer" if self.has_failed() => Recipe::answering(""),
            "answer" if self.has("question") => Recipe::answering(self.text("question").trim_matches(['\'', '"'])),
            "answer" => Recipe::answering(self.question().kind),
            _ => recipe,
        }
    }

    /// Returns the question that the problem asks of the table whose columns were listed.
    fn question(&self) -> Question {
        let problem = self.text("problem_description");
        if problem.chars().count() > PROBLEM_CHARS_MAX {
            return Question::refused(format!("the problem has more than {PROBLEM_CHARS_MAX} characters"));
        }
        let problem = problem.split_whitespace().map(without_path).collect::<Vec<_>>().join(" ");
        let file = [self.text("csv_file_path"), self.text("path")].into_iter().find(|path| !path.is_empty());
        Question::read(&problem, &self.columns().unwrap_or_default(), file.unwrap_or_default())
    }

    fn text(&self, variable: &str) -> &'r str {
        self.variables.get(variable).and_then(Json::as_str).unwrap_or_default()
    }

    /// Returns the recipe that must come before another one.
    fn needed(&self, recipe: &Recipe) -> Option<&'static Recipe> {
        // After an error, the conclusion does without an answer.
        let kind = if recipe.kind == "conclude" && self.has_failed() { Some("columns") } else { recipe.needs };
        kind.and_then(Recipe::named).map(|needed| self.fitting(needed))
    }

    /// Returns true if there is no table that this step could work with.
    fn lacks_table(&self) -> bool {
        self.has(NO_TABLE) && !matches!(self.recipe().kind, "load" | UNKNOWN)
    }

    /// Returns the reason that a cell has given if the step is not possible.
    fn impossible(&self) -> Option<&'r str> {
        self.effects.iter().flat_map(|effect| effect.lines()).find_map(|line| line.strip_prefix(IMPOSSIBLE))
    }

    /// Returns the reason why the rules give a step up, if they do.
    fn given_up(&self, kind: &str) -> Option<String> {
        match kind {
            // A judge may have written the cells of a step that the rules do not know.
            UNKNOWN if self.has(NOT_DONE) => Some("the rules do not know this step".to_owned()),
            UNKNOWN => None,
            "conclude" => None,
            _ if self.has(NO_TABLE) => Some("there is no table".to_owned()),
            "answer" if self.variables.get("answers").is_some() && self.told().is_some_and(|told| told.is_err()) => {
                self.told().and_then(Result::err).map(|reason| format!("not answered: {reason}"))
            }
            _ => self.impossible().map(|reason| format!("it is not possible with this table: {reason}")),
        }
    }

    /// Returns the steps that failed, if this step changes them: it fails now, or it is no longer one of them.
    fn failed(&self, fails: bool) -> Option<Json> {
        let mut failed = self.variables.get(FAILED).and_then(Json::as_object).cloned().unwrap_or_default();
        let changes = match fails {
            true => failed.insert(self.step_id.to_owned(), json!(self.error().unwrap_or("no result"))).is_none(),
            false => failed.remove(self.step_id).is_some(),
        };
        changes.then_some(Json::Object(failed))
    }

    /// Returns true if a cell of an earlier behavior has raised an error. A behavior that a crash interrupted is repeated
    /// as it was.
    fn has_failed(&self) -> bool {
        self.iteration > 1 && self.error().is_some()
    }

    /// Returns the last line of the output that names an error.
    fn error(&self) -> Option<&'r str> {
        let lines = self.effects.iter().rev().flat_map(|effect| effect.lines().rev());
        lines.map(str::trim).find(|line| {
            let word = line.split(':').next().unwrap_or_default();
            line.contains(':') && !word.contains(' ') && (word.ends_with("Error") || word.ends_with("Exception"))
        })
    }
}

/// Answers a request to `/planning`.
pub fn planning(request: &Json) -> Json {
    let seen = Seen::of(request);
    match seen.state {
        "stage_running" => reply(false, false),
        "step_completed" => reply(seen.list("/observation/location/progress/steps/remaining").is_empty(), false),
        "stage_completed" => end(&seen),
        _ if seen.step_id.ends_with(DESIGN) => design(&seen),
        _ => step(&seen),
    }
}

/// Answers whether the workflow is complete, and names the answer to the problem or the reason why there is none.
fn end(seen: &Seen<'_>) -> Json {
    let mut reply = reply(seen.list("/observation/location/progress/stages/remaining").is_empty(), false);
    match seen.told() {
        Some(Ok(answer)) => reply["answer"] = json!(answer),
        Some(Err(reason)) => reply["not_answered"] = json!(reason),
        None if seen.has(NO_TABLE) => {
            let reason = seen.known(LACK).unwrap_or_else(|| seen.text(NO_TABLE).trim().to_owned());
            reply["not_answered"] = json!(reason);
        }
        None => reply["not_answered"] = json!("no step of the workflow has answered it"),
    }
    reply
}

/// Returns true if the rules have worked on the problem of a request, so that they know whether it is answered.
pub fn has_worked(request: &Json) -> bool {
    let seen = Seen::of(request);
    seen.has("question") || seen.has(NO_TABLE)
}

/// Returns the answer that a cell has printed, or the reason why there is none.
fn printed(effect: &str) -> Option<Result<String, String>> {
    if let Some(reason) = effect.lines().find_map(|line| line.strip_prefix(NOT_ANSWERED)) {
        return Some(Err(reason.trim().to_owned()));
    }
    let lines: Vec<&str> = effect.lines().collect();
    let at = lines.iter().rposition(|line| *line == ANSWERED)?;
    let answer = lines[at + 1..].join("\n").trim().to_owned();
    Some(Ok(answer)).filter(|_| lines.len() > at + 1)
}

/// Returns true if a request is about the step that designs a workflow, and no workflow was proposed yet.
pub fn wants_workflow(request: &Json) -> bool {
    let seen = Seen::of(request);
    seen.step_id.ends_with(DESIGN) && seen.state == "step_running"
}

/// Proposes a workflow, and is content with its step once it is proposed.
fn design(seen: &Seen<'_>) -> Json {
    if seen.request.get("behavior_feedback").is_some() {
        return reply(true, false);
    }
    proposal(&workflow())
}

/// Returns the reply that proposes a workflow.
pub fn proposal(workflow: &Json) -> Json {
    let mut reply = reply(false, false);
    let mut update = json!({ "workflowTemplate": workflow });
    if let Ok(parsed) = crate::Workflow::parse(workflow)
        && let Some(first) = parsed.stages.first()
    {
        update["nextStageId"] = json!(first.id);
    }
    reply["context_update"] = json!({
        "progress_update": { "level": "behaviors", "focus": "Say which workflow is proposed." },
        "workflow_update": update,
    });
    reply
}

fn reply(achieved: bool, continues: bool) -> Json {
    json!({
        "targetAchieved": achieved,
        "transition": { "continue_behaviors": continues, "target_achieved": achieved },
    })
}

/// Answers whether the target of a step is achieved.
fn step(seen: &Seen<'_>) -> Json {
    let kind = seen.recipe().kind;
    let marker = seen.recipe().marker(seen.step_id);
    let is_achieved = seen.has(&marker) && (kind != "answer" || seen.told().is_some_and(|told| told.is_ok()));
    let is_open = seen.request.get("behavior_feedback").is_some() && !is_achieved;
    let given_up = seen.given_up(kind).filter(|_| is_open);
    let is_given_up = given_up.is_some();
    // The same cell would fail again; only an answer and a conclusion have another way.
    let has_way = seen.error().is_none() || matches!(kind, "answer" | "conclude");
    let continues = is_open && !is_given_up && has_way && seen.iteration < BEHAVIORS_MAX;
    let mut reply = reply(is_achieved, continues);
    let focus = match seen.error() {
        _ if is_achieved => format!("The variable `{marker}` exists: the step is achieved."),
        _ if is_given_up => format!("The step is not done: {}.", given_up.as_deref().unwrap_or_default()),
        Some(error) if continues => format!("The last cell failed ({error}). Make `{marker}` in another way."),
        Some(error) if is_open => format!("The last cell failed ({error})."),
        _ => format!("Make the variable `{marker}`: {}", seen.goal),
    };
    if let Some(reason) = given_up {
        reply["transition"]["on_unachieved"] = json!("complete_step");
        reply["transition"]["reason"] = json!(reason);
    }
    reply["context_update"] = json!({
        "progress_update": { "level": "behaviors", "focus": focus },
        "outputs_update": { "level": "steps", "outputs": { "expected": [marker], "produced": [], "in_progress": [] } },
    });
    if let Some(listed) = Columns::find(&seen.effects) {
        reply["context_update"]["variables"][LISTED] = json!(listed);
    }
    if let Some(lack) =
        seen.effects.iter().flat_map(|effect| effect.lines()).find_map(|line| line.strip_suffix(NO_TABLE_END))
    {
        reply["context_update"]["variables"][LACK] = json!(lack.trim());
    }
    if let Some(told) = seen.effects.iter().rev().find_map(|effect| printed(effect)) {
        let (answer, reason) = (told.as_ref().ok(), told.as_ref().err());
        reply["context_update"]["variables"][ANSWER] = json!(answer.map(String::as_str).unwrap_or_default());
        reply["context_update"]["variables"][UNANSWERED] = json!(reason.map(String::as_str).unwrap_or_default());
    }
    if let Some(failed) = seen.failed(is_open && !is_given_up && !continues) {
        reply["context_update"]["variables"][FAILED] = failed;
    }
    if !is_achieved {
        reply["context_filter"] = json!({
            "effects_config": { "include_current": true, "current_limit": 10 },
            "focus_to_include": ["behaviors", "steps"],
            "outputs_tracking": { "expected_variables": [marker], "validation_required": [] },
        });
    }
    reply
}

/// Answers a request to `/generating` with actions. `csv` is the path of the table, if it is known.
pub fn generating(request: &Json, csv: Option<&str>) -> Vec<Json> {
    let mut actions = Vec::new();
    let found = || csv.map(|path| Found { path: path.to_owned(), others: 0 });
    generate(request, found, &mut |action| {
        actions.push(action);
        true
    });
    actions
}

/// Answers a request to `/generating`: calls `each` with every action as soon as it is made, until it returns false.
/// `csv` looks for the path of the table after the headings are made, because that takes time.
pub fn generate(request: &Json, csv: impl FnOnce() -> Option<Found>, each: &mut dyn FnMut(Json) -> bool) {
    let seen = Seen::of(request);
    let words = if seen.iteration <= 1 { headings(&seen) } else { apology(&seen) };
    if !words.into_iter().all(&mut *each) {
        return;
    }
    let note = match seen.recipe().kind {
        _ if seen.step_id.ends_with(DESIGN) => Some(PROPOSED.to_owned()),
        "conclude" => None,
        UNKNOWN => Some(not_done(&seen)),
        _ if seen.lacks_table() => Some("**Not done.** There is no table.".to_owned()),
        _ => None,
    };
    let is_alone = seen.step_id.ends_with(DESIGN) || seen.lacks_table() && seen.recipe().kind != "conclude";
    let note = note.map(|text| json!({ "action": "add", "shot_type": "dialogue", "content": text }));
    if note.is_some_and(|note| !each(note)) || is_alone {
        return;
    }
    let mut csv = Some(csv);
    for recipe in missing(&seen) {
        let found = if recipe.kind == "load" { csv.take().and_then(|csv| csv()) } else { None };
        let code = recipe.code(&parts(&seen, recipe, found.as_ref()));
        let cell = json!({ "action": "add", "shot_type": "action", "content": code.trim_end() });
        if !each(cell) || !each(json!({ "action": "exec", "codecell_id": "lastAddedCellId" })) {
            return;
        }
    }
}

/// Returns the parts that are filled into the code of a recipe: expressions of Python.
fn parts(seen: &Seen<'_>, recipe: &Recipe, found: Option<&Found>) -> Vec<(&'static str, String)> {
    let mut parts =
        vec![("__STEP__", json!(seen.step_id).to_string()), ("__GOAL__", json!(one_line(seen.goal)).to_string())];
    match recipe.kind {
        "load" => {
            let path = found.map_or_else(|| ANY_CSV.to_owned(), |found| json!(found.path).to_string());
            let notes: Vec<String> = found.and_then(Found::note).into_iter().collect();
            parts.extend([("__PATH__", path), ("__NOTES__", json!(notes).to_string())]);
        }
        "clean" => {
            let goal = seen.goal.to_lowercase();
            let drops = ["remov", "drop", "delet", "dedup"].iter().any(|word| goal.contains(word));
            let is_asked = drops && (goal.contains("dupl") || goal.contains("repeat"));
            let fills = ["fill", "replac", "imput"].iter().any(|word| goal.contains(word));
            let flag = |is_set: bool| if is_set { "True" } else { "False" }.to_owned();
            parts.extend([("__DROP__", flag(is_asked)), ("__FILL__", flag(fills))]);
        }
        "plot" => {
            let columns = seen.columns().unwrap_or_default();
            parts.push(("__COLUMNS__", json!(names::named_columns(seen.goal, &columns)).to_string()));
        }
        "conclude" => {
            let failed = seen.variables.get(FAILED).filter(|failed| failed.is_object());
            parts.push(("__FAILED__", failed.map_or_else(|| "{}".to_owned(), Json::to_string)));
        }
        "question" => parts.extend(seen.question().parts(&seen.problem_id())),
        _ => {}
    }
    parts
}

/// Returns the recipes whose variables are missing: those that the step needs, then its own.
fn missing(seen: &Seen<'_>) -> Vec<&'static Recipe> {
    let own = seen.recipe();
    if own.kind == "conclude" && seen.has(NO_TABLE) {
        return vec![Recipe::nothing()];
    }
    let mut chain = vec![own];
    // The chain of needs is short; a test shows that none is circular.
    while let Some(needed) = chain.last().and_then(|recipe| seen.needed(recipe)) {
        chain.push(needed);
    }
    let has_question =
        |recipe: &&Recipe| recipe.kind == "question" && (own.kind == "question" || !seen.has("question"));
    let is_asked = chain.iter().any(has_question);
    let is_missing = |recipe: &&Recipe| match recipe.kind {
        kind if kind == own.kind => true,
        // The list of columns decides which question is asked.
        "columns" if is_asked => !seen.has("columns") || seen.columns().is_none(),
        _ => !seen.has(recipe.makes),
    };
    let mut missing: Vec<_> = chain.into_iter().rev().filter(is_missing).collect();
    // The rest follows in the next behavior: whether there is a table, and what it holds, decides about it.
    let is_end = |recipe: &&Recipe| recipe.kind == "load" || recipe.kind == "columns" && is_asked;
    if let Some(at) = missing.iter().position(is_end) {
        missing.truncate(at + 1);
    }
    missing
}

/// Returns the title, the chapter and the section of a step.
fn headings(seen: &Seen<'_>) -> Vec<Json> {
    let text = |at: &str| seen.request.pointer(at).and_then(Json::as_str).unwrap_or_default().trim();
    let mut actions = Vec::new();
    let problem = text("/observation/context/variables/problem_description");
    let line = problem.lines().next().unwrap_or_default();
    let title: String = line.chars().take(TITLE_CHARS_MAX).collect();
    match text("/observation/context/notebook/title") {
        "" if !problem.is_empty() => actions.push(json!({ "action": "update_title", "title": title })),
        "" => {}
        known if known != title.trim() && seen.recipe().kind == "question" => {
            let content = format!("Another problem: **{title}**");
            actions.push(json!({ "action": "add", "shot_type": "dialogue", "content": content }));
        }
        _ => {}
    }
    if seen.list("/observation/location/progress/steps/completed").is_empty() {
        let stage = text("/observation/location/goals/stage");
        let stage = if stage.is_empty() { text("/observation/location/current/stage_id") } else { stage };
        if !stage.is_empty() {
            actions.push(json!({ "action": "new_chapter", "content": stage }));
        }
    }
    let goal = if seen.goal.is_empty() { seen.step_id } else { seen.goal };
    if !goal.is_empty() {
        actions.push(json!({ "action": "new_section", "content": goal }));
    }
    actions
}

/// Returns a word of a problem; the word that patterns have for the table's file if it is the path of one.
fn without_path(word: &str) -> String {
    let end =
        word.rfind(char::is_alphanumeric).map_or(0, |at| at + word[at..].chars().next().map_or(0, char::len_utf8));
    let (path, signs) = word.split_at(end);
    match path.to_lowercase().ends_with(".csv") {
        true => format!("{}{}", shapes::FILE, signs.trim_start_matches(['"', '`', '\'', '”'])),
        false => word.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the note that the rules do not know a step.
fn not_done(seen: &Seen<'_>) -> String {
    let step = seen.step_id;
    format!(
        "**Not done.** The built-in rules do not know the step `{step}`. A judge or another server can carry it out."
    )
}

/// The note about a proposed workflow.
const PROPOSED: &str = "A workflow is proposed. It takes the place of this one once it is confirmed.";

/// Returns a note about the failure of the last behavior; none if no cell has failed.
fn apology(seen: &Seen<'_>) -> Vec<Json> {
    let Some(error) = seen.error() else { return Vec::new() };
    let text = format!("The last cell did not reach the goal: `{error}`. The step goes on in another way.");
    vec![json!({ "action": "add", "shot_type": "dialogue", "content": text })]
}

#[cfg(test)]
mod tests;

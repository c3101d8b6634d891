//! The planner and the generator that need no model: rules for workflows about a table.
//!
//! Both answer from the request alone. A step is achieved when the variable that its recipe makes exists in the kernel; a
//! heading or an intention shows nothing. A step that no recipe fits is not done: the notebook says so, and the planner
//! wants it to be completed as unachieved.

mod find;
mod question;
mod recipe;

use interlock_journal::Hash;
use serde_json::{Value as Json, json};

pub use find::find_csv;
use question::{Columns, Question};
use recipe::{Dialect, NOT_DONE, Recipe, UNKNOWN};

/// The most behaviors of a step that the rules ask for.
const BEHAVIORS_MAX: u64 = 3;

/// The longest part of a problem that is read.
const PROBLEM_CHARS_MAX: usize = 2_000;

/// The number of characters that identify a problem.
const ID_CHARS: usize = 8;

/// The longest title of a notebook.
const TITLE_CHARS_MAX: usize = 80;

/// The expression that finds a table when the notebook runs, if the request names none.
const ANY_CSV: &str = r#"sorted(__import__("glob").glob("**/*.csv", recursive=True))[0]"#;

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
                step("clean", "Clean", "Remove duplicated rows and fill missing numbers"),
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
            "columns" => self.is_new_problem() && Columns::find(&self.effects).is_empty(),
            _ => false,
        };
        self.variables.get(variable).is_some() && !is_old
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
            "answer" if self.iteration > 1 && self.error().is_some() => Recipe::answering(""),
            "answer" if self.has("question") => Recipe::answering(self.text("question").trim_matches(['\'', '"'])),
            "answer" => Recipe::answering(self.question().kind),
            _ => recipe,
        }
    }

    /// Returns the question that the problem asks of the table whose columns were listed.
    fn question(&self) -> Question {
        let problem: String = self.text("problem_description").chars().take(PROBLEM_CHARS_MAX).collect();
        Question::read(&problem, &Columns::find(&self.effects))
    }

    fn text(&self, variable: &str) -> &'r str {
        self.variables.get(variable).and_then(Json::as_str).unwrap_or_default()
    }

    /// Returns the recipe that must come before another one.
    fn needed(&self, recipe: &Recipe) -> Option<&'static Recipe> {
        // A forecast or a comparison of models is an answer too.
        let is_answered = recipe.kind == "conclude" && (self.has("forecast") || self.has("scores"));
        let kind = if is_answered { Some("load") } else { recipe.needs };
        kind.and_then(Recipe::named).map(|needed| self.fitting(needed))
    }

    /// Returns the last line of the output that names an error.
    fn error(&self) -> Option<&'r str> {
        let lines = self.effects.iter().rev().flat_map(|effect| effect.lines().rev());
        lines.map(str::trim).find(|line| {
            let word = line.split(':').next().unwrap_or_default();
            line.contains(':') && !word.contains(' ') && (word.ends_with("Error") || word.ends_with("Exception"))
        })
    }

    /// Returns true if the table is a data frame, or will be one.
    fn dialect(&self) -> Dialect {
        let lacks_pandas = self.effects.iter().any(|effect| effect.contains("No module named 'pandas'"));
        match self.variables.get("data").and_then(Json::as_str) {
            Some(form) if form.starts_with("DataFrame") => Dialect::Pandas,
            Some(_) => Dialect::Plain,
            None if lacks_pandas => Dialect::Plain,
            None => Dialect::Pandas,
        }
    }
}

/// Answers a request to `/planning`.
pub fn planning(request: &Json) -> Json {
    let seen = Seen::of(request);
    match seen.state {
        "stage_running" => reply(false, false),
        "step_completed" => reply(seen.list("/observation/location/progress/steps/remaining").is_empty(), false),
        "stage_completed" => reply(seen.list("/observation/location/progress/stages/remaining").is_empty(), false),
        _ => step(&seen),
    }
}

fn reply(achieved: bool, continues: bool) -> Json {
    json!({
        "targetAchieved": achieved,
        "transition": { "continue_behaviors": continues, "target_achieved": achieved },
    })
}

/// Answers whether the target of a step is achieved.
fn step(seen: &Seen<'_>) -> Json {
    let marker = seen.recipe().marker(seen.step_id);
    let is_achieved = seen.has(&marker);
    let is_feedback = seen.request.get("behavior_feedback").is_some();
    // A judge may have written the cells of a step that the rules do not know.
    let is_given_up = is_feedback && !is_achieved && seen.recipe().kind == UNKNOWN && seen.has(NOT_DONE);
    let continues = is_feedback && !is_achieved && !is_given_up && seen.iteration < BEHAVIORS_MAX;
    let mut reply = reply(is_achieved, continues);
    if is_given_up {
        reply["transition"]["on_unachieved"] = json!("complete_step");
    }
    let focus = match (is_achieved, seen.error()) {
        (true, _) => format!("The variable `{marker}` exists: the step is achieved."),
        _ if is_given_up => "The rules do not know this step: it is not done.".to_owned(),
        (false, Some(error)) if is_feedback => {
            format!("The last cell failed ({error}). Make `{marker}` in another way.")
        }
        (false, _) => format!("Make the variable `{marker}`: {}", seen.goal),
    };
    reply["context_update"] = json!({
        "progress_update": { "level": "behaviors", "focus": focus },
        "outputs_update": { "level": "steps", "outputs": { "expected": [marker], "produced": [], "in_progress": [] } },
    });
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
    generate(request, || csv.map(str::to_owned), &mut |action| {
        actions.push(action);
        true
    });
    actions
}

/// Answers a request to `/generating`: calls `each` with every action as soon as it is made, until it returns false.
/// `csv` looks for the path of the table after the headings are made, because that takes time.
pub fn generate(request: &Json, csv: impl FnOnce() -> Option<String>, each: &mut dyn FnMut(Json) -> bool) {
    let seen = Seen::of(request);
    let words = if seen.iteration <= 1 { headings(&seen) } else { apology(&seen) };
    if !words.into_iter().all(&mut *each) {
        return;
    }
    let path = csv().map_or_else(|| ANY_CSV.to_owned(), |path| json!(path).to_string());
    if seen.recipe().kind == UNKNOWN && !each(not_done(&seen)) {
        return;
    }
    for recipe in missing(&seen) {
        let marker = recipe.marker(seen.step_id);
        let code = recipe.code(dialect(&seen, recipe), &path, &marker);
        let code = match recipe.kind {
            "question" => seen.question().fill(&code, &seen.problem_id()),
            UNKNOWN => code
                .replace("__STEP__", &json!(seen.step_id).to_string())
                .replace("__GOAL__", &json!(one_line(seen.goal)).to_string()),
            _ => code,
        };
        let code = if is_second_try(&seen, recipe) { format!("{PLAIN_TABLES}{code}") } else { code };
        let cell = json!({ "action": "add", "shot_type": "action", "content": code.trim_end() });
        if !each(cell) || !each(json!({ "action": "exec", "codecell_id": "lastAddedCellId" })) {
            return;
        }
    }
}

/// Turns data frames into lists before code that needs no package.
const PLAIN_TABLES: &str = "for name in (\"data\", \"cleaned\"):
    if hasattr(globals().get(name), \"to_dict\"):
        frame = globals()[name].astype(object)
        globals()[name] = frame.where(frame.notna(), None).to_dict(\"records\")
";

/// Returns true if pandas code failed and the code without packages follows.
fn is_second_try(seen: &Seen<'_>, recipe: &Recipe) -> bool {
    let is_own = recipe.kind == seen.recipe().kind;
    is_own && has_failed(seen) && recipe.has_plain() && !matches!(recipe.kind, "load" | "plot")
}

fn dialect(seen: &Seen<'_>, recipe: &Recipe) -> Dialect {
    let is_own = recipe.kind == seen.recipe().kind;
    if is_own && has_failed(seen) && recipe.has_plain() { Dialect::Plain } else { seen.dialect() }
}

/// Returns true if a cell of an earlier behavior has raised an error. A behavior that a crash interrupted is repeated as it
/// was.
fn has_failed(seen: &Seen<'_>) -> bool {
    seen.iteration > 1 && seen.error().is_some()
}

/// Returns the recipes whose variables are missing: those that the step needs, then its own.
fn missing(seen: &Seen<'_>) -> Vec<&'static Recipe> {
    let own = seen.recipe();
    let mut chain = vec![own];
    // The chain of needs is short; a test shows that none is circular.
    while let Some(needed) = chain.last().and_then(|recipe| seen.needed(recipe)) {
        chain.push(needed);
    }
    let is_missing = |recipe: &&Recipe| recipe.kind == own.kind || !seen.has(recipe.makes);
    let mut missing: Vec<_> = chain.into_iter().rev().filter(is_missing).collect();
    // The columns decide which question is asked and how it is answered, so the rest follows in the next behavior.
    if let Some(at) = missing.iter().position(|recipe| recipe.kind == "columns") {
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

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the note that the rules do not know a step.
fn not_done(seen: &Seen<'_>) -> Json {
    let text = format!(
        "**Not done.** The built-in rules do not know the step `{}`. A judge or another server can carry it out.",
        seen.step_id
    );
    json!({ "action": "add", "shot_type": "dialogue", "content": text })
}

/// Returns a note about the failure of the last behavior; none if no cell has failed.
fn apology(seen: &Seen<'_>) -> Vec<Json> {
    let Some(error) = seen.error() else { return Vec::new() };
    let text = format!("The last cell did not reach the goal: `{error}`. Another way follows.");
    vec![json!({ "action": "add", "shot_type": "dialogue", "content": text })]
}

#[cfg(test)]
mod tests;

//! Happenings on a terminal: streamed text, one line per tool call, diffs in colour, the plan with check marks.

use interlock_coder::Failure;
use serde_json::Value as Json;

use super::happening::{Call, Happening};
use crate::{escape, output::Output};

/// The most lines of a diff that are shown after a call.
const DIFF_LINES_MAX: usize = 40;

/// The most lines of a command's output that are shown, if it succeeded and if it failed.
const OUTPUT_LINES_MAX: usize = 10;
const FAILED_LINES_MAX: usize = 40;

/// The longest part of an argument on a line.
const ARGUMENT_CHARS_MAX: usize = 80;

/// The colours of marks and lines, as codes of the terminal.
const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";
const BLUE: &str = "36";
const GREY: &str = "90";
const BOLD: &str = "1";

/// Shows a conversation on a terminal.
pub(crate) struct Painter<'o> {
    output: &'o Output,
    /// The model's text so far, of which everything is shown.
    streamed: String,
    /// True if the cursor is behind a text without a line end.
    is_open: bool,
    /// True if a status line is shown.
    is_status: bool,
    plan: Json,
}

impl<'o> Painter<'o> {
    pub(crate) fn new(output: &'o Output) -> Self {
        Painter { output, streamed: String::new(), is_open: false, is_status: false, plan: Json::Null }
    }

    /// The last plan that was shown.
    pub(crate) fn plan(&self) -> &Json {
        &self.plan
    }

    /// Shows a happening.
    pub(crate) fn show(&mut self, happening: Happening) {
        match happening {
            Happening::Streaming(text) => self.stream(&text),
            Happening::Note(text) => self.status(&text),
            Happening::Plan(plan) => self.changed_plan(plan),
            Happening::CallStarted(call) => self.status(&line_of(&call)),
            Happening::Notice(text) => self.say(&self.output.tint(&format!("! {}", escape::line(&text)), YELLOW)),
            Happening::CallEnded { call, ok, payload, output } => self.call(&call, ok, &payload, &output),
            Happening::Refused { call, failure } => self.refused(call.as_ref(), &failure),
            Happening::StepSaid(text) => self.said(&text),
            Happening::Verified { ok, text, log } => {
                self.mark(ok, &format!("verification: {text}"));
                self.lines(&log, FAILED_LINES_MAX, &[]);
            }
            Happening::Committed { ok, text, hooks } => self.committed(ok, &text, &hooks),
            Happening::Facts(facts) => self.facts(&facts),
            Happening::TurnEnded { ending, why, summary, failure, contradictions } => {
                self.turn(&ending, &why, &summary, failure.as_ref(), &contradictions);
            }
        }
    }

    /// Shows text that the model writes, as far as it is new.
    fn stream(&mut self, text: &str) {
        let new = fresh(&self.streamed, text);
        if new.is_empty() {
            return;
        }
        if !self.is_open {
            self.clear();
        }
        self.output.talk(new);
        self.is_open = !new.ends_with('\n');
        self.streamed = text.to_owned();
    }

    /// Shows the text of a step, unless it was streamed.
    fn said(&mut self, text: &str) {
        let is_shown = !text.is_empty() && self.streamed.contains(text);
        if !is_shown && !text.is_empty() {
            self.say(text);
        }
        self.end_line();
    }

    fn call(&mut self, call: &Call, ok: bool, payload: &Json, output: &[String]) {
        self.mark(ok, &format!("{}{}", line_of(call), result_of(call, payload)));
        if let Some(next) = payload["error"]["next_step"].as_str() {
            self.say(&format!("    next: {}", escape::line(next)));
        }
        if let Some(diff) = payload["diff"].as_str().filter(|_| call.name != "git_diff") {
            self.diff(diff, DIFF_LINES_MAX);
        }
        if call.name == "run_terminal_cmd" {
            let part = |name: &str| payload[name].as_str().unwrap_or_default();
            let lines_max = if ok { OUTPUT_LINES_MAX } else { FAILED_LINES_MAX };
            self.lines(&format!("{}{}", part("stdout"), part("stderr")), lines_max, output);
        }
        self.breaches(&payload["breaches"]);
    }

    /// Shows the last lines of an output. `kept` are the hashes under which all of it is kept.
    fn lines(&mut self, text: &str, lines_max: usize, kept: &[String]) {
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let more = lines.len().saturating_sub(lines_max);
        if more > 0 {
            let short = |hash: &String| format!("`interlock evidence {}`", hash.chars().take(12).collect::<String>());
            let commands: Vec<String> = kept.iter().map(short).collect();
            let shown = if commands.is_empty() { String::new() } else { format!("; all: {}", commands.join(", ")) };
            self.say(&self.output.tint(&format!("    … {more} lines before{shown}"), GREY));
        }
        for line in &lines[more..] {
            self.say(&format!("    {}", self.output.tint(&escape::line(line), GREY)));
        }
    }

    /// Shows what a program tried that the sandbox forbids.
    fn breaches(&mut self, breaches: &Json) {
        for breach in breaches.as_array().into_iter().flatten() {
            let text = |name: &str| breach[name].as_str().unwrap_or_default().to_owned();
            let line = format!("the sandbox stopped it: {} ({})", text("said"), text("rule"));
            self.say(&format!("    {}", self.output.tint(&escape::line(&line), RED)));
        }
    }

    /// Shows a refusal: what, why, and the next action.
    fn refused(&mut self, call: Option<&Call>, failure: &Failure) {
        let what = call.map_or_else(|| "refused".to_owned(), |call| format!("refused {}", line_of(call)));
        self.mark(false, &format!("{what}: {}: {}", failure.code, failure.message));
        self.say(&format!("    next: {}", escape::line(&failure.next_step)));
    }

    fn committed(&mut self, ok: bool, text: &str, hooks: &[Json]) {
        for hook in hooks {
            let code = hook["exit_code"].as_i64().unwrap_or(1);
            self.mark(code == 0, &format!("hook {}  (exit code {code})", hook["name"].as_str().unwrap_or("?")));
            self.lines(hook["output"].as_str().unwrap_or_default(), FAILED_LINES_MAX, &[]);
            self.breaches(&hook["breaches"]);
        }
        let mut lines = text.lines();
        self.mark(ok, lines.next().unwrap_or_default());
        lines.for_each(|line| self.say(&format!("    {}", escape::line(line))));
    }

    /// Shows the recorded facts of the turn.
    fn facts(&mut self, facts: &Json) {
        self.end_line();
        self.say(&self.output.tint("Facts", BOLD));
        for line in facts["lines"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            let line = escape::line(line);
            let is_wrong =
                line.starts_with("contradiction") || line.starts_with("repaired") || line.starts_with("refused");
            self.say(&format!("  {}", if is_wrong { self.output.tint(&line, RED) } else { line }));
        }
    }

    fn turn(&mut self, ending: &str, why: &str, summary: &str, failure: Option<&Failure>, contradictions: &[String]) {
        self.end_line();
        for line in contradictions {
            self.say(&self.output.tint(&format!("! contradiction: {}", escape::line(line)), RED));
        }
        // In the data of the run, too, the words begin with their contradictions.
        let words: Vec<&str> = summary.lines().filter(|line| !line.starts_with("! contradiction: ")).collect();
        let words = words.join("\n");
        if !words.is_empty() && !self.streamed.contains(&words) {
            self.say(&words);
        }
        match (ending, failure) {
            ("completed" | "planned", _) if why.is_empty() => self.mark(true, ending),
            ("completed" | "planned", _) => self.mark(true, &format!("{ending}: {why}")),
            (_, Some(failure)) => {
                self.mark(false, &format!("{ending}: {}: {}", failure.code, failure.message));
                self.say(&format!("  next: {}", escape::line(&failure.next_step)));
                self.say(&format!("  trace id: {} (`interlock trace {0}`)", escape::line(&failure.trace_id)));
            }
            (_, None) => self.mark(false, ending),
        }
        self.streamed.clear();
    }

    fn changed_plan(&mut self, plan: Json) {
        let titles = |plan: &Json| -> Vec<String> { steps(plan).map(|step| step.0.to_owned()).collect() };
        if titles(&plan) != titles(&self.plan) {
            self.end_line();
            self.say(&self.output.tint("Plan", BOLD));
            self.list_plan(&plan);
        } else {
            let before: Vec<&str> = steps(&self.plan).map(|step| step.1).collect();
            let changed: Vec<(String, String)> = steps(&plan)
                .zip(before)
                .filter(|((_, now), before)| now != before && *now == "in_progress")
                .map(|((title, now), _)| (title.to_owned(), now.to_owned()))
                .collect();
            for (title, _) in changed {
                self.say(&format!("{} {}", self.output.tint("▸", BLUE), escape::line(&title)));
            }
        }
        self.plan = plan;
    }

    /// Shows all steps of a plan with their marks.
    pub(crate) fn list_plan(&mut self, plan: &Json) {
        for (title, status) in steps(plan) {
            let mark = match status {
                "done" => self.output.tint("✓", GREEN),
                "in_progress" => self.output.tint("▸", BLUE),
                "blocked" => self.output.tint("✗", RED),
                "skipped" => self.output.tint("-", GREY),
                _ => self.output.tint("○", GREY),
            };
            self.say(&format!("  {mark} {}", escape::line(title)));
        }
    }

    /// Shows a diff in colour, at most this many lines of it.
    pub(crate) fn diff(&mut self, diff: &str, lines_max: usize) {
        let lines: Vec<&str> = diff.lines().collect();
        for line in lines.iter().take(lines_max) {
            let colour = match line.as_bytes().first() {
                Some(b'+') => GREEN,
                Some(b'-') => RED,
                Some(b'@') => BLUE,
                _ => GREY,
            };
            self.say(&format!("    {}", self.output.tint(&escape::line(line), colour)));
        }
        if lines.len() > lines_max {
            self.say(&format!("    … {} more lines; /diff shows all changes of the turn", lines.len() - lines_max));
        }
    }

    fn mark(&mut self, ok: bool, text: &str) {
        let mark = if ok { self.output.tint("✓", GREEN) } else { self.output.tint("✗", RED) };
        self.say(&format!("{mark} {}", escape::line(text)));
    }

    /// Shows a line that stays.
    pub(crate) fn say(&mut self, text: &str) {
        self.end_line();
        self.output.talk(&format!("{text}\n"));
    }

    /// Shows a line that the next output replaces.
    fn status(&mut self, text: &str) {
        if self.is_open || !self.output.is_talk_terminal() {
            return;
        }
        let text: String = escape::line(text.lines().last().unwrap_or_default()).chars().take(200).collect();
        let text = self.output.tint(&format!("… {text}"), GREY);
        // With wrapping turned off, the terminal cuts off a line that is too long.
        self.output.steer(&format!("\r\x1b[2K\x1b[?7l{text}\x1b[?7h"));
        self.is_status = true;
    }

    /// Ends a streamed line and removes the status line.
    pub(crate) fn end_line(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.output.talk("\n");
        }
        self.clear();
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_status) {
            self.output.steer("\r\x1b[2K");
        }
    }
}

/// Returns the part of a growing text that comes after the part that was shown. Only the end of a long text is given, so
/// its beginning may be missing.
pub(crate) fn fresh<'t>(shown: &str, text: &'t str) -> &'t str {
    if let Some(rest) = text.strip_prefix(shown) {
        return rest;
    }
    let ends = shown.char_indices().map(|(at, _)| &shown[at..]).filter(|end| end.chars().count() >= 16);
    ends.take(4_096).find_map(|end| text.strip_prefix(end)).unwrap_or(text)
}

/// Returns the titles and the states of a plan's steps.
fn steps(plan: &Json) -> impl Iterator<Item = (&str, &str)> {
    plan["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|step| (step["title"].as_str().unwrap_or("?"), step["status"].as_str().unwrap_or("pending")))
}

/// Returns a call as one line: its name and the argument that matters.
pub(crate) fn line_of(call: &Call) -> String {
    let text = |name: &str| call.args[name].as_str();
    let subject = match call.name.as_str() {
        "apply_patch" => text("patch").map(patched).unwrap_or_default(),
        "run_terminal_cmd" => text("command").unwrap_or_default().to_owned(),
        "grep" | "glob" => text("pattern").unwrap_or_default().to_owned(),
        "search" => text("query").unwrap_or_default().to_owned(),
        _ => text("path").unwrap_or_default().to_owned(),
    };
    let subject: String = subject.lines().next().unwrap_or_default().chars().take(ARGUMENT_CHARS_MAX).collect();
    format!("{} {subject}", call.name).trim_end().to_owned()
}

/// Returns the paths of a patch.
fn patched(patch: &str) -> String {
    match interlock_workspace::patch::Patch::parse(patch.as_bytes()) {
        Ok(patch) => patch.paths().iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
        Err(_) => String::new(),
    }
}

/// Returns the result of a call in a few words.
fn result_of(call: &Call, payload: &Json) -> String {
    let error = &payload["error"];
    if error.is_object() {
        let text = |name: &str| error[name].as_str().unwrap_or_default();
        return format!("  {}: {}", text("code"), text("message").lines().next().unwrap_or_default());
    }
    let number = |name: &str| payload[name].as_u64().unwrap_or(0);
    let count = |name: &str| payload[name].as_array().map_or(0, Vec::len);
    match call.name.as_str() {
        "read_file" if payload["binary"] == true => "  (binary)".to_owned(),
        "read_file" => format!("  (lines {}-{} of {})", number("from_line"), number("to_line"), number("total_lines")),
        "grep" => format!("  ({} matches in {} files)", number("count"), number("files")),
        "glob" => format!("  ({} files)", number("total")),
        "list_dir" => format!("  ({} entries)", count("entries")),
        "search" => format!("  ({} hits)", count("hits")),
        "run_terminal_cmd" => match payload["exit_code"].as_i64() {
            Some(code) => format!("  (exit code {code}, {} ms)", number("duration_ms")),
            None => String::new(),
        },
        "apply_patch" | "write_file" | "delete_file" => {
            let files = payload["files"].as_array().into_iter().flatten();
            let sum = |name: &str| files.clone().filter_map(|file| file[name].as_u64()).sum::<u64>();
            format!("  (+{} -{})", sum("added_lines"), sum("removed_lines"))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_new_text_is_streamed() {
        assert_eq!(fresh("", "Hello"), "Hello");
        assert_eq!(fresh("Hello", "Hello, world"), ", world");
        // The beginning of a long text is left out.
        assert_eq!(fresh("0123456789abcdefghijklmnop", "abcdefghijklmnop, more"), ", more");
        // A new text begins.
        assert_eq!(fresh("an earlier text of the model", "Now another one"), "Now another one");
    }

    #[test]
    fn a_call_is_one_line_with_its_result() {
        let call = |name: &str, args: Json| Call { id: "a1.0".into(), name: name.into(), args };
        let line = |call: &Call, payload: Json| format!("{}{}", line_of(call), result_of(call, &payload));
        let read = call("read_file", json!({ "path": "src/main.rs" }));
        let result = json!({ "from_line": 1, "to_line": 9, "total_lines": 9 });
        assert_eq!(line(&read, result), "read_file src/main.rs  (lines 1-9 of 9)");
        let run = call("run_terminal_cmd", json!({ "command": "make\ntest" }));
        let result = json!({ "exit_code": 2, "duration_ms": 5 });
        assert_eq!(line(&run, result), "run_terminal_cmd make  (exit code 2, 5 ms)");
        let error = json!({ "error": { "code": "E_CONFLICT", "message": "changed\nmore" } });
        assert_eq!(line(&read, error), "read_file src/main.rs  E_CONFLICT: changed");
    }
}

//! The report on a run whose checks `project.detect` has fixed: the commit, the checks and the warnings.

use interlock_activity::report::{
    Claim, ExecutedCommand, Part, RecordedRun, Section, Story,
    reading::{list, text, words},
};
use interlock_journal::{AttemptResult, Entry};
use serde_json::{Value as Json, json};

/// The number of characters of a commit's hash that are shown.
const HASH_SHOWN: usize = 12;

/// Returns the story of a run; `None` if its machine does not keep the checks in its context.
pub(super) fn of(run: &RecordedRun) -> Option<Story> {
    let context = &run.context;
    let checks = words(&context["checks"])?;
    let warnings: Vec<String> = list(&context["warnings"]).map(text).collect();
    let mut remark = committed(context);
    if warnings.is_empty() {
        remark.push_str("; there are no warnings");
    } else {
        remark.push_str(&format!("; warnings: {}", warnings.join(", ")));
    }
    if context["test"] == json!("") {
        remark.push_str("; there was no test command: nothing was tested");
    }
    let mut parts = vec![Part::Text(format!("{checks}."))];
    parts.extend(Part::table(&["command", "exit code", "tree"], verdicts(run)));
    let accepted: Vec<String> = list(&context["accepted"]).map(text).collect();
    if !accepted.is_empty() {
        parts.push(Part::Text(format!("A person accepted changed checks: {}.", accepted.join("; "))));
    }
    parts.extend(own_judge(run).map(Part::Text));
    let json = json!({
        "commit": context["commit"],
        "branch": context["branch"],
        "checks": checks,
        "warnings": warnings,
        "accepted": accepted,
    });
    Some(Story { remark, sections: vec![Section::new("Checks", parts)], json, ..Story::default() })
}

fn committed(context: &Json) -> String {
    let Some(commit) = words(&context["commit"]) else { return "nothing was committed".to_owned() };
    let short: String = commit.chars().take(HASH_SHOWN).collect();
    let message = text(&context["commit_message"]);
    let subject = message.lines().next().unwrap_or_default();
    match context["branch"].as_str() {
        Some(branch) => format!("committed `{short}` to `{branch}`: {subject}"),
        None => format!("committed `{short}`: {subject}"),
    }
}

/// Returns one row per verdict of a command that the run executed.
fn verdicts(run: &RecordedRun) -> Vec<Vec<String>> {
    let accounts = run.records.iter().filter_map(|record| record.account.as_ref());
    let lint = words(&run.context["lint"]);
    let is_lint = |command: &ExecutedCommand| command.claim == Claim::Step && Some(&command.command) == lint.as_ref();
    let commands = accounts.flat_map(|account| &account.commands);
    let commands = commands.filter(|command| command.is_check() || is_lint(command));
    let row = |command: &ExecutedCommand| {
        let code = command.exit_code.map(|code| code.to_string()).unwrap_or_default();
        vec![command.command.clone(), code, command.tree.clone().unwrap_or_default()]
    };
    commands.map(row).collect()
}

/// Returns a note if the model that reviewed the work is the agent's own.
fn own_judge(run: &RecordedRun) -> Option<String> {
    let outcomes = |name: &'static str| {
        run.records.iter().filter(move |record| record.activity.as_ref().is_some_and(|it| it.name == name))
    };
    let agents = outcomes("agent.prompt").filter_map(|record| match &record.entry {
        Entry::Outcome { result: AttemptResult::Signal { data, .. }, .. } => words(&Json::from(data)["model"]),
        _ => None,
    });
    let agents: Vec<String> = agents.collect();
    let mut judges = outcomes("judge.review").flat_map(|record| record.entry.evidence()).filter_map(|file| {
        let said: Json = serde_json::from_str(&run.text(file).filter(|_| file.name == "judgement")?).ok()?;
        list(&said["hearings"]).flat_map(|hearing| list(&hearing["tries"])).find_map(|tried| words(&tried["model"]))
    });
    let own = judges.find(|model| agents.contains(model))?;
    Some(format!("The agent's own model, {own}, reviewed its work."))
}

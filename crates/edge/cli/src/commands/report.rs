//! `interlock report`: writes a report on a run as Markdown, as JSON, or as one self-contained page of HTML.
//!
//! A report begins with one sentence (`sentence.rs`). `gather.rs` reads the run, `document.rs` decides the order of the
//! contents for all machines and all formats, `html.rs` and `markdown.rs` write it. The activities of a machine can add
//! a story: `interlock_activity::report`.

mod changes;
mod commands;
mod document;
mod failing;
mod gather;
mod html;
mod markdown;
mod repeat;
mod sections;
mod sentence;
mod shown;

use std::path::PathBuf;

use interlock_activity::report::{RecordedRun, Story};
use interlock_draw::visited::Visits;
use interlock_journal::{Created, Entry, Head, moment};
use interlock_judge::JudgementSummary;
use interlock_runtime::Move;
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{
    Exit,
    args::{Report as Args, ReportFormat},
    escape,
    failure::Failure,
    follow::{Difference, End, Follower, Spent, Tally, state_json},
    output::Output,
    saved::save,
    store::Store,
};

/// All data that a report is made from.
struct Report {
    head: Head,
    follower: Follower,
    run: RecordedRun,
    /// The reason of the last transition.
    reason: Option<String>,
    /// Every transition with its explanation.
    moves: Vec<Move>,
    visits: Visits,
    files: Vec<gather::File>,
    commands: Vec<commands::Executed>,
    failing: Vec<failing::Failing>,
    changes: changes::Changes,
    /// The same changes by content, with the counts of lines.
    difference: Difference,
    /// The tokens, the cost and the refusals of the run.
    tally: Tally,
    /// The tokens and the cost of its child runs.
    children: Spent,
    judged: JudgementSummary,
    /// An existing directory in which the run can be repeated: its own, or the checkout of its worktree.
    place: Option<PathBuf>,
    /// The story of the run by an activity of its machine.
    story: Option<Story>,
    /// The hash of the last record.
    last_hash: String,
}

/// Writes the report on a run.
pub(crate) fn run(args: &Args, output: &Output) -> Outcome {
    let format = format(args, output)?;
    let store = Store::open()?;
    let report = gather::report(&store, store.find(&args.run)?)?;
    let text = match format {
        ReportFormat::Md => escape::shown(&markdown::write(&report)).into_owned(),
        ReportFormat::Html => written(&report)?,
        ReportFormat::Json => {
            let json = serde_json::to_string_pretty(&report.json());
            escape::json(&(json.map_err(|error| Failure::failed(error.to_string()))? + "\n")).into_owned()
        }
    };
    match &args.out {
        Some(path) => {
            save(path, &text)?;
            output.talk(&format!("wrote {}\n", path.display()));
        }
        None => output.data(&text)?,
    }
    Ok(Exit::Good)
}

/// Makes the report of a run as an HTML page.
pub(crate) fn page(store: &Store, head: Head) -> Result<String, Failure> {
    written(&gather::report(store, head)?)
}

/// Returns the first sentence and the sections of the report of a run, for the server's page.
pub(crate) fn sections(store: &Store, head: Head) -> Result<Json, Failure> {
    Ok(sections::write(&gather::report(store, head)?))
}

fn written(report: &Report) -> Result<String, Failure> {
    Ok(escape::shown(&html::write(report)?).into_owned())
}

/// Returns the format of the report: the requested one, or else the one that the file name implies.
fn format(args: &Args, output: &Output) -> Result<ReportFormat, Failure> {
    let ending = args.out.as_deref().and_then(|path| path.extension()).map(|ending| ending.to_string_lossy());
    match (args.format, ending.as_deref()) {
        (Some(format), _) => Ok(format),
        (None, Some("html" | "htm")) => Ok(ReportFormat::Html),
        (None, Some("json")) => Ok(ReportFormat::Json),
        (None, Some("md" | "markdown")) => Ok(ReportFormat::Md),
        (None, Some(other)) => Err(Failure::bad_input(format!("a report cannot be written as `.{other}`"))
            .hint("use a file name that ends with .md, .html or .json, or give --format")),
        (None, None) if output.is_json() => Ok(ReportFormat::Json),
        (None, None) => Ok(ReportFormat::Md),
    }
}

impl Report {
    /// Returns the run's first record.
    fn created(&self) -> Option<&Created> {
        match &self.run.records.first()?.entry {
            Entry::Created(created) => Some(created),
            _ => None,
        }
    }

    /// Returns the reasons for which `check` refused the machine, if the run was started with `--unproved`.
    fn unproved(&self) -> Option<&[String]> {
        self.created()?.unproved.as_deref()
    }

    fn json(&self) -> Json {
        let Report { head, follower, .. } = self;
        let file = |file: &gather::File| json!({ "seq": file.seq, "file": file.evidence, "text": file.text });
        let mut json = json!({
            "sentence": sentence::of(self),
            "story": self.story.as_ref().map(|story| &story.json),
            "run": head.name,
            "machine": head.machine,
            "definition": head.definition,
            "last_hash": self.last_hash,
            "phase": follower.phase(),
            "end": End::of(follower.phase(), self.reason.clone()),
            "refused": self.tally.refused.iter().map(|(seq, one)| json!({ "seq": seq, "refused": one })).collect::<Vec<_>>(),
            "spent": { "agents": self.tally.agents, "judges": self.tally.judges, "children": self.children },
            "began": moment::rfc3339(head.created_ms),
            "failing": failing::json(&self.failing),
            "changes": self.changes.json(),
            "difference": self.difference.json(&head.name),
            "commands": commands::json(&self.commands),
            "repeat": repeat::commands(self),
            "tools": repeat::tools_json(self),
            "state": state_json(&follower.live, follower.now_ms()),
            "moves": self.moves,
            "evidence": self.files.iter().map(file).collect::<Vec<_>>(),
        });
        if let Some(refusals) = self.unproved() {
            json["unproved"] = json!(refusals);
        }
        json
    }
}

//! `interlock report`: what a run did, written down: Markdown, JSON, or a page that needs nothing else.

mod html;
mod judged;
mod markdown;
mod story;
mod time;
mod verdict;

use interlock_draw::{self as draw, Highlight, Options};
use interlock_journal::{Created, Entry, Evidence, Head, moment};
use serde_json::{Value as Json, json};

use super::{Outcome, draw::save, show};
use crate::{
    Exit,
    args::{Report as Args, ReportFormat},
    escape,
    failure::Failure,
    follow::{Follower, Step},
    output::Output,
    store::Store,
    why,
};

/// Everything that a report is made of.
struct Report {
    head: Head,
    follower: Follower,
    steps: Vec<Step>,
    files: Vec<File>,
}

/// A file that the run left behind.
struct File {
    seq: u64,
    evidence: Evidence,
    /// Its text, where it is text and short enough to be shown.
    text: Option<String>,
    /// Its text, where it is too long to be shown and the story of a run is told from it all the same.
    told: Option<String>,
}

impl File {
    /// All of its text, where anybody needs it.
    fn whole(&self) -> Option<&str> {
        self.text.as_deref().or(self.told.as_deref())
    }
}

/// The length of a hash, and how much of one is shown where it leads to the whole.
const HASH_CHARS: usize = 64;
const HASH_CHARS_SHOWN: usize = 12;

/// Longest file that is put into a report.
const EMBEDDED_BYTES_MAX: u64 = 64 * 1_024;

/// What the story of a run is told from.
const TOLD: [&str; 4] = ["baseline", "test_result", "fix", "judgement"];

/// Longest file that a story is told from: the results of some hundred thousand cases.
const TOLD_BYTES_MAX: u64 = 64 * 1_024 * 1_024;

/// Most bytes of files in one report.
const EMBEDDED_TOTAL_MAX: u64 = 4 * 1_024 * 1_024;

/// Writes a report.
pub(crate) fn run(args: &Args, output: &Output) -> Outcome {
    let format = format(args, output)?;
    let store = Store::open()?;
    let report = Report::of(&store, store.find(&args.run)?)?;
    let text = match format {
        ReportFormat::Md => markdown::write(&report),
        ReportFormat::Html => html::write(&report),
        ReportFormat::Json => {
            let json = serde_json::to_string_pretty(&report.json());
            json.map_err(|error| Failure::failed(error.to_string()))? + "\n"
        }
    };
    let text = match format {
        ReportFormat::Json => escape::json(&text),
        ReportFormat::Md | ReportFormat::Html => escape::shown(&text),
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

/// What is written where: as it is asked for, or else as the file's name says.
fn format(args: &Args, output: &Output) -> Result<ReportFormat, Failure> {
    let ending = args.out.as_deref().and_then(|path| path.extension()).map(|ending| ending.to_string_lossy());
    match (args.format, ending.as_deref()) {
        (Some(format), _) => Ok(format),
        (None, Some("html" | "htm")) => Ok(ReportFormat::Html),
        (None, Some("json")) => Ok(ReportFormat::Json),
        (None, Some("md" | "markdown")) => Ok(ReportFormat::Md),
        (None, Some(other)) => Err(Failure::bad_input(format!("a report cannot be written as `.{other}`"))
            .hint("the file's name ends with .md, .html or .json, or --format says what to write")),
        (None, None) if output.is_json() => Ok(ReportFormat::Json),
        (None, None) => Ok(ReportFormat::Md),
    }
}

impl Report {
    fn of(store: &Store, head: Head) -> Result<Self, Failure> {
        let mut follower = Follower::from_start(store, head.clone())?;
        let steps = follower.catch_up()?;
        let (mut files, mut total) = (Vec::new(), 0);
        for step in &steps {
            for evidence in step.entry.evidence() {
                let fits = evidence.bytes <= EMBEDDED_BYTES_MAX && total + evidence.bytes <= EMBEDDED_TOTAL_MAX;
                let text = if fits { text(store, evidence) } else { None };
                total += text.as_ref().map_or(0, |text| text.len() as u64);
                let is_told = TOLD.contains(&evidence.name.as_str()) && evidence.bytes <= TOLD_BYTES_MAX;
                let told = if is_told && !fits { self::text(store, evidence) } else { None };
                files.push(File { seq: step.record.seq, evidence: evidence.clone(), text, told });
            }
        }
        Ok(Report { head, follower, steps, files })
    }

    /// The machine with the way that was taken.
    fn picture(&self) -> String {
        let chart = self.follower.live.loaded.chart();
        let taken: Vec<_> = self.steps.iter().flat_map(|step| step.transitions.iter().copied()).collect();
        let mut highlight = Highlight::path(chart, &taken);
        self.follower.live.state.configuration.iter().for_each(|state| {
            if chart.state(state).kind.is_atomic() {
                highlight.state(state);
            }
        });
        draw::svg(chart, &Options { highlight, ..Options::default() })
    }

    fn moves(&self) -> impl Iterator<Item = &interlock_runtime::Move> {
        self.steps.iter().flat_map(|step| &step.moves)
    }

    /// What stands on top of every report.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let Report { head, follower, .. } = self;
        let definition = &follower.live.loaded.definition;
        let created = self.created();
        let mut facts = vec![
            ("machine", format!("{} version {}", head.machine, definition.version)),
            ("definition", head.definition.clone()),
            ("outcome", format!("{} in {}", follower.phase().word(), follower.live.place())),
            ("began", moment::rfc3339(head.created_ms)),
            ("moved last", moment::rfc3339(self.steps.last().map_or(head.updated_ms, |step| step.record.at_ms))),
            ("folder", follower.live.folder.display().to_string()),
            ("records", follower.live.seq.to_string()),
            ("last hash", self.steps.last().map(|step| step.record.hash.to_string()).unwrap_or_default()),
        ];
        facts.extend(created.map(|created| ("started by", created.by.name.clone())));
        facts.extend(self.unproved().map(|refusals| ("unproved", why::unproved(refusals))));
        facts.extend(head.parent.clone().map(|parent| ("started by run", parent)));
        facts.extend(story::taken_back(self).map(|back| ("taken back", back.when())));
        facts
    }

    /// How the run began.
    fn created(&self) -> Option<&Created> {
        match &self.steps.first()?.entry {
            Entry::Created(created) => Some(created),
            _ => None,
        }
    }

    /// The reasons for which `check` refused the machine, if whoever started the run accepted an unproved one.
    fn unproved(&self) -> Option<&[String]> {
        self.created()?.unproved.as_deref()
    }

    fn json(&self) -> Json {
        let Report { head, follower, .. } = self;
        let file = |file: &File| json!({ "seq": file.seq, "file": file.evidence, "text": file.text });
        let mut json = json!({
            "story": story::Story::of(self).map(|story| story.json()),
            "run": head.name,
            "machine": head.machine,
            "definition": head.definition,
            "phase": follower.phase(),
            "began": moment::rfc3339(head.created_ms),
            "state": show::state_json(&follower.live, follower.now_ms()),
            "moves": self.moves().collect::<Vec<_>>(),
            "evidence": self.files.iter().map(file).collect::<Vec<_>>(),
        });
        if let Some(refusals) = self.unproved() {
            json["unproved"] = json!(refusals);
        }
        json
    }
}

/// Splits a word of a table into the hash of evidence, which leads there, and what stands behind it.
fn hash(word: &str) -> Option<(&str, &str)> {
    let hash = word.trim_end_matches(',');
    let is_hash = hash.len() == HASH_CHARS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| (hash, &word[hash.len()..]))
}

fn text(store: &Store, evidence: &Evidence) -> Option<String> {
    use interlock_journal::Engine as _;
    let content = store.journal.evidence().get(&evidence.hash).ok()?;
    String::from_utf8(content).ok().filter(|text| !text.contains('\0'))
}

//! `workspace.context`: the context for a plan. A map of the workspace, the places that matter for a goal, and snippets
//! of their files.

use std::path::{Path, PathBuf};

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_codemap::{BYTES_PER_TOKEN, RankedSymbol, Survey, Wish};
use interlock_journal::Hash;
use interlock_workspace::Workspace;
use serde_json::{Value as Json, json};

use super::{begin, failed};

const KNOWN: [&str; 6] =
    ["goal", "constraints", "evidence_refs", "max_snippets", "max_lines_per_snippet", "tokens_max"];

/// The most bytes of evidence that are searched for places: logs repeat themselves.
const EVIDENCE_BYTES_MAX: usize = 1024 * 1024;

/// The longest file that a snippet is taken from.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The limits of a context pack.
#[derive(Clone, Copy, Debug)]
struct Limits {
    snippets: usize,
    lines: usize,
    tokens: usize,
}

/// The limits if the machine sets none.
const USUAL: Limits = Limits { snippets: 20, lines: 200, tokens: 12_000 };

/// The map takes one part in this many of a pack: a quarter.
const MAP_SHARE: usize = 4;

/// Collects the context for a plan.
#[derive(Clone, Debug)]
pub struct WorkspaceContext {
    workspace: Workspace,
    home: Option<PathBuf>,
}

impl WorkspaceContext {
    /// Creates the activity. `workspace` finds workspaces, and maps are cached below `home`.
    pub fn new(workspace: Workspace, home: Option<PathBuf>) -> Self {
        WorkspaceContext { workspace, home }
    }

    fn collect(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let limits = limits(&given)?;
        let mut wish = Wish::goal(given.text("goal")?.unwrap_or_default());
        for log in logs(&given, attempt)? {
            wish = wish.with_log(&log);
        }
        let root = self.workspace.root(&attempt.folder).map_err(|error| failed(&error))?;
        let survey = Survey::of(&root, self.home.as_deref());
        let survey = survey.map_err(|error| Outcome::error(code::FAILED, error.to_string()))?;
        let constraints = given.texts("constraints")?.unwrap_or_default();
        let pack = pack(&survey, &wish, &constraints, limits);
        Ok(READY.outcome(Value::map([("pack", Value::from(pack))])))
    }
}

fn limits(given: &Arguments<'_>) -> Result<Limits, BadArgument> {
    let number = |name: &str, usual: usize| -> Result<usize, BadArgument> {
        Ok(given.whole(name)?.map_or(usual, |number| usize::try_from(number).unwrap_or(usize::MAX)))
    };
    let positive = |name: &str, usual: usize| match number(name, usual)? {
        0 => Err(BadArgument::field(name, "must be at least 1")),
        number => Ok(number),
    };
    Ok(Limits {
        snippets: positive("max_snippets", USUAL.snippets)?,
        lines: positive("max_lines_per_snippet", USUAL.lines)?,
        tokens: number("tokens_max", USUAL.tokens)?,
    })
}

/// Returns the referenced evidence that is text.
fn logs(given: &Arguments<'_>, attempt: &Attempt) -> Result<Vec<String>, BadArgument> {
    let mut logs = Vec::new();
    for reference in given.texts("evidence_refs")?.unwrap_or_default() {
        let unknown = || BadArgument::field("evidence_refs", format!("names {reference:?}, which is not evidence"));
        let hash = Hash::from_hex(&reference).ok_or_else(unknown)?;
        let mut content = attempt.evidence.get(&hash).map_err(|_| unknown())?;
        let end = content.len();
        content.drain(..end.saturating_sub(EVIDENCE_BYTES_MAX));
        if !content.contains(&0) {
            logs.push(String::from_utf8_lossy(&content).into_owned());
        }
    }
    Ok(logs)
}

/// Builds the ContextPack that `machines/coder/schemas/context-pack.json` describes.
fn pack(survey: &Survey, wish: &Wish, constraints: &[String], limits: Limits) -> Json {
    let ranking = survey.rank(wish);
    let summary = ranking.map(limits.tokens / MAP_SHARE).to_text();
    let mut room = limits.tokens.saturating_mul(BYTES_PER_TOKEN).saturating_sub(summary.len());
    let places = ranking.places(limits.snippets);
    let mut snippets: Vec<Json> = Vec::new();
    for place in &places {
        if snippets.iter().any(|shown| is_within(place, shown)) {
            continue;
        }
        if let Some((snippet, bytes)) = snippet(survey.root(), place, limits.lines).filter(|(_, bytes)| *bytes <= room)
        {
            room -= bytes;
            snippets.push(snippet);
        }
    }
    let used = limits.tokens.saturating_sub(room / BYTES_PER_TOKEN);
    json!({
        "workspace_summary": summary,
        "constraints": constraints,
        "retrieval_hits": places.iter().map(hit).collect::<Vec<_>>(),
        "code_snippets": snippets,
        "recent_actions": [],
        "token_budget": {
            "total_estimate": limits.tokens,
            "used_estimate": used,
            "limits": { "max_snippets": limits.snippets, "max_lines_per_snippet": limits.lines },
        },
    })
}

fn hit(place: &RankedSymbol) -> Json {
    json!({
        "source": "symbol",
        "path": place.path,
        "score": (place.score * 10_000.0).round() / 10_000.0,
        "summary": format!("{} {}", place.kind, place.signature),
        "start_line": place.line,
        "end_line": place.end_line,
    })
}

/// Returns true if a place begins within a snippet that is already included.
fn is_within(place: &RankedSymbol, shown: &Json) -> bool {
    let line = |name: &str| shown[name].as_u64().unwrap_or(0);
    shown["path"] == place.path.as_str() && (line("start_line")..=line("end_line")).contains(&u64::from(place.line))
}

/// Returns a snippet of the current file from the first line of a definition on, and its length.
fn snippet(root: &Path, place: &RankedSymbol, lines_max: usize) -> Option<(Json, usize)> {
    let text = interlock_beneath::read(root, Path::new(&place.path), FILE_BYTES_MAX).ok()?;
    let text = String::from_utf8_lossy(&text);
    let count = (place.end_line.checked_sub(place.line)? as usize + 1).min(lines_max);
    let lines: Vec<&str> = text.lines().skip((place.line as usize).checked_sub(1)?).take(count).collect();
    let end_line = place.line + u32::try_from(lines.len()).ok()?.checked_sub(1)?;
    let content = lines.join("\n");
    let bytes = content.len();
    Some((json!({ "path": place.path, "start_line": place.line, "end_line": end_line, "content": content }), bytes))
}

const READY: Signal = Signal::new("context_ready", || schema::fields([("pack", schema::any())]));

impl Activity for WorkspaceContext {
    fn name(&self) -> &str {
        "workspace.context"
    }

    fn summary(&self) -> &str {
        "Collects the context of a plan: a map of the workspace and the places that matter for a goal."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[READY]
    }

    fn schema(&self) -> Schema {
        schema::fields([
            ("goal", schema::text()),
            ("constraints", schema::list(schema::plain())),
            ("evidence_refs", schema::list(schema::plain())),
            ("max_snippets", schema::whole()),
            ("max_lines_per_snippet", schema::whole()),
            ("tokens_max", schema::whole()),
        ])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.collect(attempt))
    }
}

//! `grep`: the lines that fit a regular expression.

use interlock_policy::Request;
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use interlock_beneath as beneath;
use serde_json::{Value as Json, json};

use super::{arguments, flag, number, text};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    cut::{TEXT_BYTES_MAX, beginning},
    requests::{Given, Unstated},
    scene::Scene,
    walk::{PathGlob, Walk},
};

/// The number of matching lines if the call gives none.
const MATCHES: usize = 100;

/// The longest line that is shown.
const LINE_BYTES_MAX: usize = 400;

/// The longest file that is searched.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub(super) fn tool() -> Tool {
    Tool {
        name: "grep",
        description: "Searches files for a regular expression (Rust syntax, as in ripgrep), line by line, without binary \
                      files and files that .gitignore excludes. A result line is PATH:LINE:TEXT; a line of context is \
                      PATH-LINE-TEXT.",
        args_schema: arguments(
            1,
            [
                ("pattern", text("The regular expression")),
                ("path", text("Only this file or files below this directory")),
                ("glob", text("Only files that fit this glob, such as `*.rs`")),
                ("ignore_case", flag("Whether upper and lower case are the same")),
                ("context", number(0, 20, "The lines to show before and after each match")),
                ("max", number(1, 1_000, "The most matching lines; 100 if it is missing")),
            ],
        ),
        result: "`matches` (lines of text), `count`, `files`, `truncated`",
        permission: "fs.read",
        effect: Effect::Read,
        idempotent: true,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    given.reads_place()
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let below = scene.place(args.text("path"))?;
    let glob = args.text("glob").map(|glob| PathGlob::parse("glob", glob)).transpose()?;
    let matcher = matcher(args.need("pattern"), args.flag("ignore_case"))?;
    let context = args.number("context", 0);
    let mut found = Found { max: args.number("max", MATCHES), ..Found::default() };
    let mut searcher = searcher(context);
    let mut walk = Walk::below(scene, &below, None)?;
    for entry in walk.by_ref() {
        let is_wanted = glob.as_ref().is_none_or(|glob| glob.fits(&entry.path, &below));
        if entry.is_folder || entry.is_link || !is_wanted {
            continue;
        }
        let Ok(content) = beneath::read(&scene.root, &entry.path, FILE_BYTES_MAX) else {
            found.skipped += 1;
            continue;
        };
        found.search(&mut searcher, &matcher, &entry.path, &content);
        if found.is_full {
            break;
        }
    }
    Ok(found.reply(walk.is_cut))
}

pub(super) fn matcher(pattern: &str, ignores_case: bool) -> Result<RegexMatcher, ToolError> {
    let built = RegexMatcherBuilder::new().case_insensitive(ignores_case).line_terminator(Some(b'\n')).build(pattern);
    built.map_err(|error| ToolError::argument("pattern", format!("is no regular expression: {error}")))
}

pub(super) fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .build()
}

/// The lines that were found.
#[derive(Default)]
struct Found {
    max: usize,
    text: String,
    count: usize,
    files: usize,
    skipped: usize,
    is_full: bool,
}

impl Found {
    fn search(&mut self, searcher: &mut Searcher, matcher: &RegexMatcher, path: &Path, content: &[u8]) {
        let before = self.count;
        let mut sink = Lines { found: self, path: path.to_string_lossy().into_owned() };
        // The sink has no errors of its own, and a slice has none either.
        let _ = searcher.search_slice(matcher, content, &mut sink);
        self.files += usize::from(self.count > before);
    }

    fn push(&mut self, path: &str, line: Option<u64>, mark: char, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\r', '\n']);
        let kept = beginning(text, LINE_BYTES_MAX);
        let more = if kept.len() < text.len() { " [line cut]" } else { "" };
        let line = format!("{path}{mark}{}{mark}{kept}{more}\n", line.unwrap_or_default());
        self.is_full |= self.text.len() + line.len() > TEXT_BYTES_MAX;
        if !self.is_full {
            self.text.push_str(&line);
        }
        !self.is_full
    }

    fn reply(mut self, walk_is_cut: bool) -> Json {
        let is_cut = self.is_full || walk_is_cut;
        if is_cut {
            let shown = self.count;
            self.text.push_str(&format!(
                "[cut after {shown} matches; narrow it with `path` or `glob`, use a more exact pattern, or raise `max`]\n"
            ));
        }
        let mut said = json!({ "matches": self.text, "count": self.count, "files": self.files, "truncated": is_cut });
        if self.skipped > 0 {
            said["note"] = json!(format!("{} files were not searched: unreadable or longer than 4 MiB", self.skipped));
        }
        said
    }
}

struct Lines<'f> {
    found: &'f mut Found,
    path: String,
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.found.count >= self.found.max {
            self.found.is_full = true;
            return Ok(false);
        }
        let is_taken = self.found.push(&self.path, line.line_number(), ':', line.bytes());
        self.found.count += usize::from(is_taken);
        Ok(is_taken)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, Self::Error> {
        Ok(self.found.push(&self.path, line.line_number(), '-', line.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, Self::Error> {
        self.found.text.push_str("--\n");
        Ok(true)
    }
}

//! The findings of `check` in SARIF 2.1.0, the format in which GitHub and other services take annotations of lines.
//!
//! Built-in machines are left out, because their files are not in the repository that is checked.

use std::path::Path;

use interlock_chart::{
    Diagnostic, Span,
    diagnostic::line_col,
    library::{Origin, Source},
};
use interlock_checker::{Counterexample, Report};
use ring::digest;
use serde_json::{Value as Json, json};

use crate::commands::explain;

/// The rule of a property that does not hold. Every other rule is the code of a diagnostic, with its page.
const PROPERTY: &str = "property";

/// Characters of a path that a URI reference keeps.
const PLAIN: &[u8] = b"-._~/!$&'()*+,;=@";

/// Returns the results of one machine, with paths relative to the root of the repository.
pub(super) fn results(source: &Source, problems: &[Diagnostic], report: Option<&Report>, here: &Path) -> Vec<Json> {
    if source.origin == Origin::BuiltIn {
        return Vec::new();
    }
    let path = here.join(&source.path);
    let file = uri(&path.canonicalize().unwrap_or(path), root(here));
    let counterexample = |problem: &Diagnostic| {
        let mut found = report.into_iter().flat_map(|report| &report.problems);
        found.find(|one| (one.code, one.span) == (problem.code, problem.span))?.counterexample.as_ref()
    };
    let problems = problems.iter().map(|problem| {
        let hint = problem.hint.iter().map(String::as_str);
        let text = text(&problem.message, hint, counterexample(problem));
        result(problem.code, problem.severity.word(), &problem.message, &text, &file, region(source, problem.span))
    });
    let broken = report.into_iter().flat_map(|report| &report.properties).filter(|proof| !proof.ok).map(|proof| {
        let because = Some(format!("required because {}", proof.because)).filter(|_| !proof.because.is_empty());
        let name = format!("not proved: {}", proof.name);
        let text = text(&name, because.as_deref(), proof.counterexample.as_ref());
        result(PROPERTY, "error", &name, &text, &file, region(source, proof.span))
    });
    problems.chain(broken).collect()
}

/// Returns the document with these results and the rules that they name.
pub(super) fn document(results: &[Json]) -> Json {
    let mut named: Vec<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    named.sort_unstable();
    named.dedup();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "interlock",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": named.into_iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(id: &str) -> Json {
    let (title, text) = explain::page(id).unwrap_or((
        "a property of the machine is not proved",
        "`interlock check` shows a shortest path that breaks it, if there is one.",
    ));
    json!({
        "id": id,
        "shortDescription": { "text": title },
        "fullDescription": { "text": title },
        "help": { "text": text, "markdown": text },
    })
}

fn result(rule: &str, level: &str, headline: &str, text: &str, file: &str, region: Json) -> Json {
    // Lines move and counterexamples change; rule, file and headline say whether two results are the same.
    let same = digest::digest(&digest::SHA256, format!("{rule}\n{file}\n{headline}").as_bytes());
    let same: String = same.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": file }, "region": region } }],
        "partialFingerprints": { "primaryLocationLineHash": format!("{same}:1") },
    })
}

fn text<'t>(headline: &'t str, more: impl IntoIterator<Item = &'t str>, way: Option<&Counterexample>) -> String {
    let way = way.map(|way| format!("a shortest counterexample:\n{}", way.to_string().trim_end()));
    std::iter::once(headline).chain(more).map(str::to_owned).chain(way).collect::<Vec<_>>().join("\n")
}

fn region(source: &Source, span: Span) -> Json {
    let (line, column) = line_col(&source.text, span.start as usize);
    let (end_line, end_column) = line_col(&source.text, span.end as usize);
    json!({ "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column })
}

/// Returns the root of the repository that the directory is in, or the directory if there is none.
fn root(here: &Path) -> &Path {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here)
}

/// Returns the path as a URI reference: relative to the root, or absolute if it is elsewhere.
fn uri(path: &Path, root: &Path) -> String {
    let (scheme, path) = path.strip_prefix(root).map_or(("file://", path), |below| ("", below));
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || PLAIN.contains(byte);
    let letter = |byte: u8| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.to_string_lossy().bytes().map(letter).fold(scheme.to_owned(), |uri, letter| uri + &letter)
}

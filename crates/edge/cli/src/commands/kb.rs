//! `interlock kb`: searches, shows and exports the knowledge base that runs have filled.

use std::fmt::Write as _;

use interlock_firmware::learned::{self, ENTRIES_PER_LESSON, Lesson};
use interlock_journal::moment;
use interlock_judge::settings::Settings;
use interlock_knowledge::{Entry, Filter, Knowledge, Vectors};
use interlock_model::embeddings::Embedder;

use super::Outcome;
use crate::{
    Exit,
    args::{Kb, KbCommand, KbFormat, KbSearch},
    drive::block_on,
    escape,
    failure::Failure,
    machine::here,
    output::Output,
    store,
};

/// Runs the requested subcommand.
pub(crate) fn run(args: &Kb, output: &Output) -> Outcome {
    let knowledge = Knowledge::open(&store::home()?)?;
    match &args.command {
        KbCommand::Search(args) => search(&knowledge, args, output),
        KbCommand::Show { id } => show(&knowledge, id, output),
        KbCommand::Export { format } => export(&knowledge, *format, output),
    }
}

fn search(knowledge: &Knowledge, args: &KbSearch, output: &Output) -> Outcome {
    let settings = Settings::load(Some(&store::home()?), &here()).map_err(Failure::bad_input)?;
    let embedder = settings.embeddings.as_ref().map(Embedder::new);
    let filter = Filter { product_line: args.product_line.clone(), tags: args.tags.clone() };
    let (query, at_most) = (args.query.join(" "), usize::from(args.limit));
    let looked_at = at_most.saturating_mul(ENTRIES_PER_LESSON);
    let vectors = embedder.as_ref().map(|embedder| Vectors {
        model: embedder.model(),
        make: async |texts: &[String]| embedder.vectors(texts).await,
    });
    let found =
        block_on(async { Ok(interlock_knowledge::search(knowledge, vectors, &query, &filter, looked_at).await?) })?;
    let lessons = learned::once(found.hits, at_most);
    if let Some(trouble) = &found.trouble {
        output.talk(&format!("{} searched by keyword only: {trouble}\n", output.yellow("warning:")));
    }
    if output.is_json() {
        output.json(&lessons)?;
    } else if lessons.is_empty() {
        output.talk("No entry matches\n");
    } else {
        output.data(&lessons.iter().map(|lesson| row(lesson, output)).collect::<String>())?;
    }
    Ok(Exit::Good)
}

fn row(lesson: &Lesson, output: &Output) -> String {
    let (hit, entry) = (&lesson.hit, &lesson.hit.entry);
    let line = if entry.product_line.is_empty() { String::new() } else { format!("  {}", entry.product_line) };
    format!("{}  {}{line}  {}\n    {}\n", output.bold(&entry.id), lesson.came(), entry.title, hit.snippet)
}

fn show(knowledge: &Knowledge, id: &str, output: &Output) -> Outcome {
    let unknown = || {
        Failure::bad_input(format!("there is no entry called `{id}`")).hint("find entries with `interlock kb search`")
    };
    let entry = knowledge.show(id)?.ok_or_else(unknown)?;
    if output.is_json() {
        output.json(&entry)?;
    } else {
        let same: Vec<Entry> = knowledge.all()?.into_iter().filter(|other| learned::is_same(other, &entry)).collect();
        output.data(&markdown(&entry, &same))?;
    }
    Ok(Exit::Good)
}

fn export(knowledge: &Knowledge, format: KbFormat, output: &Output) -> Outcome {
    let entries = knowledge.all()?;
    if output.is_json() {
        output.json(&entries)?;
        return Ok(Exit::Good);
    }
    let mut text = String::new();
    for entry in &entries {
        match format {
            KbFormat::Jsonl => {
                writeln!(text, "{}", escape::json(&serde_json::to_string(entry).map_err(Failure::failed)?))
            }
            KbFormat::Md => writeln!(text, "{}", markdown(entry, &[])),
        }
        .map_err(Failure::failed)?;
    }
    output.data(&text)?;
    Ok(Exit::Good)
}

/// Formats an entry as Markdown, with the entries that state the same if they are given.
fn markdown(entry: &Entry, same: &[Entry]) -> String {
    let mut text = format!("## {}: {}\n\n", entry.id, entry.title);
    let sure = format!("{}, confidence {:.2}", learned::came(entry), entry.confidence);
    let others: Vec<&str> = same.iter().map(|same| same.id.as_str()).filter(|id| *id != entry.id).collect();
    let often = match others.is_empty() {
        true => String::new(),
        false => format!("{}; also {}", learned::came_of_all(same, entry), others.join(", ")),
    };
    let facts = [
        ("result", sure),
        ("from", format!("{}, round {} of run {}", entry.machine, entry.iteration, entry.run)),
        ("at", moment::rfc3339(entry.at)),
        ("learned", often),
        ("product line", entry.product_line.clone()),
        ("tags", entry.tags.join(", ")),
        ("files", entry.files.join(", ")),
        ("evidence", entry.evidence_refs.join(", ")),
    ];
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("- {name}: {value}\n"));
    }
    for (name, part) in [("Symptom", &entry.symptom), ("Cause", &entry.cause)] {
        if !part.is_empty() {
            text.push_str(&format!("\n{name}:\n\n{}\n", part.trim_end()));
        }
    }
    if !entry.patch.is_empty() {
        let fence = fence(&entry.patch);
        text.push_str(&format!("\nPatch:\n\n{fence}diff\n{}\n{fence}\n", entry.patch.trim_end()));
    }
    text
}

/// Returns a code fence that is longer than any within the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

//! `interlock show`: shows a run's place, data, activities in progress and accepted events.

use interlock_chart::counted;
use interlock_follow::continued::continued_by;
use interlock_journal::{Engine as _, Evidence, Head, Holder, Phase, Undone, moment};
use interlock_runtime::{Checkpoint, Live, Workspace, created, offers};
use interlock_sqlite::process_id;
use serde_json::{Value as Json, json};

use super::{Outcome, evidence, undo};
use crate::{
    Exit, about, family,
    follow::{End, Follower, Standing, Tally, counters, state_json},
    output::Output,
    overdue,
    store::{Store, registry},
    waiting, why,
};

/// The length of the longest value that is shown on its line.
const VALUE_LENGTH_MAX: usize = 300;

/// The most lines of a text that are shown.
const VALUE_LINES_MAX: usize = 200;

/// The most refusals that are shown; `--json` has more.
const REFUSED_MAX: usize = 5;

/// The end of a run, and what it used and was refused.
struct About {
    end: Option<End>,
    tally: Tally,
}

/// Prints the current state of a run.
pub(crate) fn run(run: &str, output: &Output) -> Outcome {
    let store = Store::open()?;
    let follower = Follower::from_now(&store, store.find(run)?)?;
    let head = store.find(&follower.head.name)?;
    let files = evidence::of_run(&store, &head)?;
    let holder = store.journal.holder(head.key)?;
    let undone = undo::of_run(&store, &head)?;
    let created = created(&*store.engine(), &head)?;
    let spent = interlock_follow::spent::of_run(&*store.engine(), &head)?;
    let continues = created.as_ref().and_then(|created| created.fork.clone());
    let continued_by = continued_by(&*store.engine(), &head)?.map(|next| next.name);
    let unproved = created.and_then(|created| created.unproved);
    let checkpoints = checkpoints(&store, &follower.live);
    let about = About { end: End::read(&store, &head)?, tally: Tally::of(&*store.engine(), &head)? };
    match output.is_json() {
        true => {
            let mut json = all_json(&head, &follower, holder.as_ref(), &files, &about);
            let each = |(seq, undone): &(u64, Undone)| json!({ "seq": seq, "undone": undone });
            json["checkpoints"] = json!(checkpoints);
            json["spent"] = json!(spent);
            json["continues"] = json!(continues);
            json["continued_by"] = json!(continued_by);
            if let Some(refusals) = &unproved {
                json["unproved"] = json!(refusals);
            }
            json["undone"] = undone.iter().map(each).collect();
            output.json(&json)?;
        }
        false => {
            let mut text = all_text(&head, &follower, holder.as_ref(), &files, &about, output);
            if let Some(from) = &continues {
                text.push_str(&format!("\nit continues {} from record {}\n", from.run, from.at));
            }
            if let Some(next) = &continued_by {
                text.push_str(&format!("\n{next} continues it\n"));
            }
            if !spent.words().is_empty() {
                text.push_str(&format!("\nspent: {}\n", spent.words()));
            }
            if let Some(refusals) = &unproved {
                text.push_str(&format!("\nunproved: {}\n", why::unproved(refusals)));
            }
            for checkpoint in &checkpoints {
                text.push_str(&format!("\ncheckpoint {} is tree {}\n", checkpoint.name, checkpoint.tree));
            }
            for (seq, undone) in &undone {
                text.push_str(&format!("\n{} (record {seq})\n", undone.words()));
            }
            output.data(&text)?;
        }
    }
    Ok(Exit::Good)
}

/// Returns the checkpoints of a run; none if no snapshot was ever kept or the directory is gone.
fn checkpoints(store: &Store, live: &Live) -> Vec<Checkpoint> {
    match store.home.join("workspaces").exists() {
        true => Workspace::new(&store.home).checkpoints(&live.folder, &live.name).unwrap_or_default(),
        false => Vec::new(),
    }
}

fn all_json(
    head: &Head,
    follower: &Follower,
    holder: Option<&Holder>,
    files: &[(u64, Evidence)],
    about: &About,
) -> Json {
    let mut json = json!(head);
    if let (Json::Object(json), Json::Object(state)) = (&mut json, state_json(&follower.live, follower.now_ms())) {
        json.extend(state);
    }
    json["process"] = json!(holder.and_then(|holder| process_id(&holder.worker)));
    json["process_since"] = json!(holder.and_then(|holder| holder.since_ms).map(moment::rfc3339));
    json["deadline"] = overdue::json(head.due_ms, follower.now_ms());
    let asking = family::asking(follower).ok().flatten();
    json["waits_for_run"] = json!(asking.map(|asking| asking.follower.head.name));
    json["folder"] = json!(follower.live.folder);
    json["outcome"] = json!(about.end.as_ref().map(|end| end.outcome));
    json["reason"] = json!(about.end.as_ref().and_then(|end| end.reason.clone()));
    json["spent"] = json!(about.tally.spent());
    json["refused"] =
        about.tally.refused.iter().map(|(seq, refused)| json!({ "seq": seq, "refused": refused })).collect();
    let mut offers = offers(&follower.live, registry());
    // Without a process that runs it, no attempt waits for an answer.
    offers.asked.retain(|_| holder.is_some());
    json["offers"] = json!(offers);
    let file = |(seq, file): &(u64, Evidence)| json!({ "seq": seq, "file": file });
    json["evidence"] = files.iter().map(file).collect();
    json
}

fn all_text(
    head: &Head,
    follower: &Follower,
    holder: Option<&Holder>,
    files: &[(u64, Evidence)],
    about: &About,
    output: &Output,
) -> String {
    let version = follower.live.loaded.definition.version;
    let short = head.definition.get(..12).unwrap_or(&head.definition);
    let mut text = format!("{}\n", output.bold(&format!("{}: {} in {}", head.name, head.phase.word(), head.place)));
    if let Some(failure) = follower.live.failure() {
        text.push_str(&format!("  failed     {failure}\n"));
    }
    if let Some(reason) = about.end.as_ref().and_then(|end| end.reason.as_deref()) {
        text.push_str(&format!("  reason     {}\n", reason.replace('\n', " ")));
    }
    for (seq, refused) in about.tally.refused.iter().rev().take(REFUSED_MAX) {
        text.push_str(&format!("  refused    {} in record {seq}: {}\n", refused.words(), refused.reason));
    }
    text.push_str(&format!("  machine    {} version {version} ({short})\n", head.machine));
    text.push_str(&format!("  folder     {}\n", follower.live.folder.display()));
    text.push_str(&format!("  began      {}\n", moment::rfc3339(head.created_ms)));
    text.push_str(&format!("  updated    {} (record {})\n", moment::rfc3339(head.updated_ms), head.seq));
    if let Some(parent) = &head.parent {
        text.push_str(&format!("  started by {parent}\n"));
    }
    if let Some(Holder { worker, since_ms }) = holder {
        let since = since_ms.map(|since_ms| format!(" since {}", moment::rfc3339(since_ms))).unwrap_or_default();
        text.push_str(&format!("  process    {worker}{since}\n"));
    } else if follower.standing() == Standing::Moving {
        text.push_str(&format!("  process    none; continue it with `interlock resume {}`\n", head.name));
    }
    text.push_str(&state_text(&follower.live, follower.now_ms(), output));
    if !files.is_empty() {
        text.push_str(&heading("evidence", output));
    }
    for (seq, file) in files {
        text.push_str(&format!(
            "  {} {} ({}, record {seq})\n",
            file.hash,
            file.name,
            counted(file.bytes, "byte", "bytes")
        ));
    }
    let offers = follower.offers();
    for question in offers.asked.iter().filter(|_| holder.is_some()) {
        text.push_str(&format!("\n{}", waiting::question(&head.name, &offers, question)));
    }
    if let Some(asking) = family::asking(follower).ok().flatten() {
        text.push_str(&format!("\n{}", waiting::text_for(follower, &asking.follower)));
    }
    if matches!(head.phase, Phase::Waiting | Phase::Paused) {
        let about = about::in_full(&follower.offers());
        if !about.is_empty() {
            text.push_str(&format!("\n{about}"));
        }
        text.push_str(&format!("\n{}", waiting::text(follower)));
    }
    text
}

fn heading(word: &str, output: &Output) -> String {
    format!("\n{}\n", output.bold(word))
}

/// Returns the state and data of a run at a moment as text.
pub(crate) fn state_text(live: &Live, now_ms: i64, output: &Output) -> String {
    let chart = live.loaded.chart();
    let mut text = String::new();
    let mut section = |word: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&heading(word, output));
            lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    };
    section("input", fields(&Json::from(&live.state.data.input)));
    let context = chart.context.iter().zip(&live.state.data.context);
    section("context", context.map(|(known, value)| field(&known.name, &Json::from(value))).collect());
    section("output", output_lines(live));
    section("counters", counters(live).map(|(name, count, max)| format!("{name} {count} of {max}")).collect());
    let activity = |begun: &interlock_runtime::StartedActivity| {
        let invoke = chart.invoke(begun.invoke);
        let tried = if begun.number > 1 { format!(" (try {})", begun.number) } else { String::new() };
        format!(
            "{}{tried} for {}, with {}",
            invoke.activity,
            chart.state(invoke.state).name,
            shortened(&Json::from(&begun.with))
        )
    };
    section("activities", live.activities.values().map(activity).collect());
    let timers = live.timers.iter().map(|(id, due)| {
        format!("{} at {} ({})", live.raised_by(*id), moment::rfc3339(*due), overdue::words(*due, now_ms))
    });
    section("timers", timers.collect());
    text
}

/// Returns the output of a run, one field each: the data of the final state that it reached.
pub(crate) fn output_lines(live: &Live) -> Vec<String> {
    live.output.iter().flat_map(|output| fields(&Json::from(output))).collect()
}

fn fields(value: &Json) -> Vec<String> {
    value.as_object().into_iter().flatten().map(|(name, value)| field(name, value)).collect()
}

/// Formats a field. A text of several lines, such as a patch, is shown line by line.
fn field(name: &str, value: &Json) -> String {
    let Some(text) = value.as_str().filter(|text| text.trim_end().contains('\n')) else {
        return format!("{name} = {}", shortened(value));
    };
    let shown = text.lines().take(VALUE_LINES_MAX).map(|line| format!("\n    | {line}")).collect::<String>();
    let rest = if text.lines().nth(VALUE_LINES_MAX).is_some() {
        "\n    … (complete with `interlock show --json`)"
    } else {
        ""
    };
    format!("{name} ={shown}{rest}")
}

fn shortened(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(VALUE_LENGTH_MAX) {
        Some((at, _)) => format!("{}… (complete with `interlock show --json`)", &text[..at]),
        None => text,
    }
}

//! One bug: it is inserted, localised and repaired, and the result becomes a row of the table.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use interlock_repair::{Candidate, Hints, Search, Suspect, Template, Trial, candidates, localise};

use crate::bench::Bench;
use crate::bugs::{Bug, List};
use crate::coverage::{Measured, measure};

/// The options from the command line.
pub(crate) struct Options {
    pub(crate) firmwares: PathBuf,
    pub(crate) trials: usize,
    pub(crate) only: Option<String>,
    pub(crate) list: List,
    pub(crate) show: bool,
}

/// A row of the table.
pub(crate) struct Row {
    firmware: String,
    name: String,
    failing: usize,
    /// The rank of the changed line among the suspects.
    suspect: Option<usize>,
    pub(crate) repaired_at: Option<usize>,
    template: Option<Template>,
    pub(crate) same_text: bool,
    seconds: f64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<usize>| value.map_or("-".to_owned(), |value| value.to_string());
        let template = self.template.map_or("-", Template::name);
        let same = if self.same_text { "yes" } else { "no" };
        let same = if self.repaired_at.is_some() { same } else { "-" };
        let Row { firmware, name, failing, seconds, .. } = self;
        let (suspect, at) = (number(self.suspect), number(self.repaired_at));
        write!(f, "| {firmware} | {name} | {failing} | {suspect} | {at} | {template} | {same} | {seconds:.0} |")
    }
}

/// Inserts a bug and searches for its repair.
pub(crate) fn score(options: &Options, bug: &Bug) -> io::Result<Row> {
    let bench = Bench::new(&options.firmwares, &bug.firmware)?;
    let cases = cases(&bench)?;
    let original = prepare(&bench, bug, &cases)?;
    let files = sources(&bench.folder, "src")?;
    let baseline = bench.boot(None, None)?.trial(&cases);
    if baseline.failed.is_empty() {
        return Err(io::Error::other(format!("{}: no case fails", bug.name)));
    }
    let begun = Instant::now();
    let measured = measure(&bench, &cases)?;
    let suspects = localise(&measured.coverage, &measured.named);
    let hints = Hints::of(&sources(&bench.folder, "tests")?, &measured.failures);
    if options.show {
        let ranked: Vec<Candidate> = candidates(&files, &suspects, &hints).collect();
        show(&measured, &suspects, &ranked, bug, &original)?;
    }
    let mut row = Row {
        firmware: bug.firmware.clone(),
        name: bug.name.clone(),
        failing: baseline.failed.len(),
        suspect: place_of(bug, &suspects, &files, &original),
        repaired_at: None,
        template: None,
        same_text: false,
        seconds: 0.0,
    };
    let search = Search::new(files.clone(), candidates(&files, &suspects, &hints), baseline.clone());
    if let Some((tried, candidate)) = find(&bench, search, &files, &cases, options, baseline)? {
        row.repaired_at = Some(tried);
        row.template = Some(candidate.template);
        row.same_text = is_original(&candidate, &files, &original);
    }
    row.seconds = begun.elapsed().as_secs_f64();
    Ok(row)
}

/// Removes the shipped bug, checks that all cases pass, and inserts the bug. Returns the sources from before.
fn prepare(bench: &Bench, bug: &Bug, cases: &[String]) -> io::Result<BTreeMap<String, String>> {
    if let Some(fix) = &bug.fix {
        fix.make(&bench.folder)?;
    }
    let original = sources(&bench.folder, "src")?;
    let sound = bench.build()? && bench.boot(None, None)?.trial(cases).failed.is_empty();
    if !sound {
        return Err(io::Error::other(format!("{}: cases fail without the bug", bug.firmware)));
    }
    bug.change.make(&bench.folder)?;
    if !bench.build()? {
        return Err(io::Error::other(format!("{}: does not compile", bug.name)));
    }
    Ok(original)
}

/// Tries one candidate after the other and returns the number of trials.
fn find(
    bench: &Bench,
    mut search: Search,
    files: &BTreeMap<String, String>,
    cases: &[String],
    options: &Options,
    baseline: Trial,
) -> io::Result<Option<(usize, Candidate)>> {
    let mut known = HashMap::from([(bench.image()?, baseline)]);
    for tried in 1..=options.trials {
        let Some(candidate) = search.next() else { return Ok(None) };
        let trial = attempt(bench, &candidate, files, cases, &mut known)?;
        if env::var_os("SCORE_TRACE").is_some() {
            let moved = trial.failed.keys().cloned().collect::<Vec<_>>().join(" ");
            writeln!(
                io::stderr(),
                "{tried} {:.3} built={} {} [{moved}]",
                candidate.score,
                trial.built,
                candidate.summary
            )?;
        }
        if search.repaired(&trial) {
            return Ok(Some((tried, candidate)));
        }
        search.tell(&candidate, &trial);
    }
    Ok(None)
}

/// Writes a candidate, builds and runs it, and restores the files.
fn attempt(
    bench: &Bench,
    candidate: &Candidate,
    files: &BTreeMap<String, String>,
    cases: &[String],
    known: &mut HashMap<u64, Trial>,
) -> io::Result<Trial> {
    for path in candidate.edits.keys() {
        let text = files.get(path).and_then(|text| candidate.apply(path, text));
        fs::write(bench.folder.join(path), text.ok_or_else(|| io::Error::other("a candidate does not apply"))?)?;
    }
    let trial = if bench.build()? {
        let image = bench.image()?;
        match known.entry(image) {
            Entry::Occupied(same) => same.get().clone(),
            Entry::Vacant(new) => new.insert(bench.boot(None, None)?.trial(cases)).clone(),
        }
    } else {
        Trial::default()
    };
    for path in candidate.edits.keys() {
        fs::write(bench.folder.join(path), files.get(path).cloned().unwrap_or_default())?;
    }
    Ok(trial)
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')')).collect()
}

fn is_original(candidate: &Candidate, files: &BTreeMap<String, String>, original: &BTreeMap<String, String>) -> bool {
    files.iter().all(|(path, text)| {
        let made = candidate.apply(path, text).unwrap_or_default();
        original.get(path).is_some_and(|from_before| squeezed(from_before) == squeezed(&made))
    })
}

/// Returns the rank of the first line that the bug changed among the suspects.
fn place_of(
    bug: &Bug,
    suspects: &[Suspect],
    files: &BTreeMap<String, String>,
    original: &BTreeMap<String, String>,
) -> Option<usize> {
    let (now, then) = (files.get(&bug.change.file)?, original.get(&bug.change.file)?);
    let line = now.lines().zip(then.lines()).take_while(|(a, b)| a == b).count() + 1;
    let near = |suspect: &Suspect| suspect.path == bug.change.file && suspect.line.abs_diff(line) <= 1;
    suspects.iter().position(near).map(|place| place + 1)
}

fn show(
    measured: &Measured,
    suspects: &[Suspect],
    ranked: &[Candidate],
    bug: &Bug,
    original: &BTreeMap<String, String>,
) -> io::Result<()> {
    let mut out = io::stderr();
    for failure in &measured.failures {
        writeln!(out, "{failure:?}")?;
    }
    for suspect in suspects.iter().take(15) {
        writeln!(out, "{}:{} {:.2} {}", suspect.path, suspect.line, suspect.score, suspect.why)?;
    }
    let wanted = squeezed(original.get(&bug.change.file).map(String::as_str).unwrap_or_default());
    let mut text = original.clone();
    let changed = text.entry(bug.change.file.clone()).or_default();
    *changed = changed.replace(&bug.change.before, &bug.change.after);
    let right = ranked
        .iter()
        .position(|one| one.apply(&bug.change.file, changed).is_some_and(|made| squeezed(&made) == wanted));
    writeln!(out, "{} candidates, the original is {right:?}", ranked.len())
}

/// Returns the names of the cases, from the table at the end of the test.
fn cases(bench: &Bench) -> io::Result<Vec<String>> {
    let tests = sources(&bench.folder, "tests")?;
    let name = |line: &str| Some(line.trim().strip_prefix("CASE(")?.strip_suffix("),")?.to_owned());
    Ok(tests.values().flat_map(|text| text.lines().filter_map(name).collect::<Vec<_>>()).collect())
}

fn sources(folder: &Path, part: &str) -> io::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder.join(part))? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        files.insert(format!("{part}/{name}"), fs::read_to_string(&path)?);
    }
    Ok(files)
}

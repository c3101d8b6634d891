//! Records executed lines with a program that is instrumented for gcov. Its counters are files, which a firmware writes
//! by semihosting, or lines of text on its console: `gcov: NAME.gcda HEX`. The compiler's note files are in the
//! sources, beside the objects.

use interlock_beneath::{Entry, FileType, whole};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_process::{Tell, run};
use serde::Deserialize;

use crate::{
    Bench, Trouble,
    confined::{self, Confined, Trust},
    walk::{FILE_BYTES_MAX, walk},
};

/// The time limit of gcov for one file.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The largest number of counter files that are read.
const FILES_MAX: usize = 1_000;

/// The working directory of gcov, within the directory of a start.
const FOLDER: &str = "gcov";

/// The output of `gcov --json-format`.
#[derive(Deserialize)]
struct GcovOutput {
    #[serde(default)]
    current_working_directory: PathBuf,
    #[serde(default)]
    files: Vec<GcovFile>,
}

#[derive(Deserialize)]
struct GcovFile {
    file: PathBuf,
    #[serde(default)]
    lines: Vec<GcovLine>,
}

#[derive(Deserialize)]
struct GcovLine {
    line_number: u32,
    count: u64,
}

/// Returns the executed lines by file.
pub(crate) async fn lines(
    program: &Path,
    bench: Bench<'_>,
    start: &Path,
    counters: Vec<(String, Vec<u8>)>,
) -> Result<BTreeMap<String, Vec<u32>>, Trouble> {
    let notes = notes(&bench.session.sources)?;
    let mut executed: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (number, (name, counters)) in counters.into_iter().take(FILES_MAX).enumerate() {
        let Some(note) = note_of(&name, &notes) else { continue };
        let folder = start.join(FOLDER).join(number.to_string());
        whole::make_folders(&folder)?;
        whole::write(folder.join("it.gcda"), counters)?;
        whole::copy(note, folder.join("it.gcno"), FILE_BYTES_MAX)?;
        add(ask(program, bench, &folder).await?, &mut executed);
    }
    let _ = whole::remove_all(start.join(FOLDER));
    Ok(executed.into_iter().map(|(file, lines)| (file, lines.into_iter().collect())).collect())
}

/// Returns the counter files with their names: those that the firmware wrote and those that it printed.
pub(crate) fn counters(start: &Path, artifacts: &[PathBuf], log: &str) -> Vec<(String, Vec<u8>)> {
    let is_ours = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "gcda");
    let written = artifacts.iter().filter(is_ours).filter_map(|path| {
        Some((path.to_string_lossy().into_owned(), whole::read(start.join(path), FILE_BYTES_MAX).ok()?))
    });
    let mut printed: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for line in log.lines().filter_map(|line| line.trim().strip_prefix("gcov: ")) {
        if let Some((name, bytes)) = line.rsplit_once(' ').and_then(|(name, text)| Some((name, hex(text)?))) {
            // A long file may be printed in parts.
            printed.entry(name).or_default().extend(bytes);
        }
    }
    written.chain(printed.into_iter().map(|(name, bytes)| (name.to_owned(), bytes))).collect()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |letter: u8| (letter as char).to_digit(16);
    let byte = |pair: &[u8]| u8::try_from(digit(*pair.first()?)? * 16 + digit(*pair.get(1)?)?).ok();
    text.as_bytes().chunks(2).map(byte).collect()
}

/// The directory for the counters of a program of this computer, within the directory of a start. `GCOV_PREFIX` names
/// it, so that concurrent starts do not add up.
pub(crate) const WRITTEN: &str = "counters";

/// Returns the counter files below such a directory, by the names that they have without it, and removes them.
pub(crate) fn written(start: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let (root, mut found) = (start.join(WRITTEN), Vec::new());
    for Entry { path, kind, .. } in walk(&root)? {
        if kind == FileType::RegularFile && path.extension().is_some_and(|extension| extension == "gcda") {
            let own = Path::new("/").join(&path);
            found.push((own.to_string_lossy().into_owned(), whole::read(root.join(path), FILE_BYTES_MAX)?));
        }
    }
    whole::remove_all(root)?;
    Ok(found)
}

/// Reports whether the sources were compiled for gcov.
pub(crate) fn is_instrumented(sources: &Path) -> bool {
    notes(sources).is_ok_and(|notes| !notes.is_empty())
}

/// Returns all note files of the compiler.
fn notes(sources: &Path) -> io::Result<Vec<PathBuf>> {
    let is_note = |entry: &Entry| {
        entry.kind == FileType::RegularFile && entry.path.extension().is_some_and(|extension| extension == "gcno")
    };
    let mut notes: Vec<_> = walk(sources)?.into_iter().filter(is_note).map(|note| sources.join(note.path)).collect();
    notes.sort();
    Ok(notes)
}

/// Returns the note file for a counter file: the one at the same path, or else one of the same name.
fn note_of<'n>(name: &str, notes: &'n [PathBuf]) -> Option<&'n PathBuf> {
    let wanted = Path::new(name).with_extension("gcno");
    let same_name = |note: &&PathBuf| note.file_name() == wanted.file_name();
    notes.iter().find(|note| **note == wanted).or_else(|| notes.iter().find(same_name))
}

async fn ask(program: &Path, bench: Bench<'_>, folder: &Path) -> Result<Option<GcovOutput>, Trouble> {
    let plan = Confined {
        words: [program.as_os_str(), "--json-format".as_ref(), "--stdout".as_ref(), "it.gcda".as_ref()]
            .map(Into::into)
            .into(),
        folder: folder.to_owned(),
        writable: folder.to_owned(),
        env: BTreeMap::new(),
        timeout: TIMEOUT,
        tell: Tell::Nothing,
        trust: Trust::Nothing,
    };
    let mut ended = run(bench.attempt, &plan.plan(bench)?).await.map_err(|outcome| confined::trouble(&outcome))?;
    // Truncated counters give no result.
    Ok(serde_json::from_slice(&ended.stdout.content()?).ok())
}

fn add(told: Option<GcovOutput>, executed: &mut BTreeMap<String, BTreeSet<u32>>) {
    let Some(told) = told else { return };
    for file in told.files {
        let name = told.current_working_directory.join(&file.file).to_string_lossy().into_owned();
        let lines = file.lines.iter().filter(|line| line.count > 0).map(|line| line.line_number);
        executed.entry(name).or_default().extend(lines);
    }
    executed.retain(|_, lines| !lines.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_counters_are_joined_and_invalid_ones_skipped() {
        let log = "boot\ngcov: /b/x.gcda 0a0B\r\ngcov: y.gcda ff\ngcov: /b/x.gcda 0c\ngcov: z.gcda 0g\ngcov: z.gcda 123\ngcov:\n";
        let found = counters(Path::new("/nowhere"), &["guest/a.gcda".into(), "guest/b.txt".into()], log);
        assert_eq!(found, [("/b/x.gcda".to_owned(), vec![10, 11, 12]), ("y.gcda".to_owned(), vec![255])]);
    }
}

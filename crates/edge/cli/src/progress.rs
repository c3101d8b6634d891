//! The progress display of a run: a status line on a terminal, plain lines in a log.

use std::{
    io::{IsTerminal as _, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use interlock_runtime::Live;

use crate::{
    escape,
    follow::{Follower, Step},
    output::Output,
    store::live_files,
    why,
};

/// The most bytes of an output file that are read to find its last line.
const TAIL_BYTES_MAX: u64 = 4_096;

/// The time after which a log gets the last note of an activity, although nothing has moved.
const NOTE_EVERY: Duration = Duration::from_secs(10);

/// The time after which a log gets a line although there is no note either.
const SIGN_EVERY: Duration = Duration::from_secs(60);

/// Moves to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// The progress display of a run.
#[derive(Debug)]
pub(crate) struct Progress<'o> {
    output: &'o Output,
    is_terminal: bool,
    is_shown: bool,
    began: Instant,
    /// The prefix of every line, if several runs are followed at once.
    prefix: String,
    live_folder: PathBuf,
    /// The place of the run in its own words, as a view of its activities describes it.
    place: String,
    /// The last note of the activity in progress.
    note: String,
    /// The time of the last line in a log.
    logged: Instant,
}

impl<'o> Progress<'o> {
    /// Makes the display of a single run, or of one of several if there is a prefix.
    pub(crate) fn new(output: &'o Output, live_folder: PathBuf, prefix: Option<&str>) -> Self {
        let prefix = prefix.map(|name| format!("{name}  ")).unwrap_or_default();
        // Status lines of several runs would overwrite each other.
        let is_terminal = std::io::stderr().is_terminal() && prefix.is_empty();
        let (began, place, note) = (Instant::now(), String::new(), String::new());
        Progress { output, is_terminal, is_shown: false, began, prefix, live_folder, place, note, logged: began }
    }

    /// Prints text that stays above the status line.
    pub(crate) fn say(&mut self, text: &str) {
        self.clear();
        text.lines().for_each(|line| self.output.talk(&format!("{}{line}\n", self.prefix)));
    }

    /// Prints the moves of a record.
    pub(crate) fn step(&mut self, step: &Step) {
        self.note.clear();
        self.logged = Instant::now();
        why::lines(&step.moves).iter().for_each(|line| self.say(line));
    }

    /// Sets the note of the activity in progress.
    pub(crate) fn note(&mut self, text: &str) {
        self.note = text.lines().last().unwrap_or_default().to_owned();
    }

    /// Sets the place of the run, which stays until there is another one.
    pub(crate) fn place(&mut self, text: &str) {
        self.place = text.lines().last().unwrap_or_default().to_owned();
    }

    /// Redraws the status line.
    pub(crate) fn tick(&mut self, follower: &Follower) {
        if !self.is_terminal {
            let line = self.line(Instant::now(), || {
                let (place, said) = (self.place_of(follower), self.last_line(&follower.head.name));
                format!("{place}  {said}").trim_end().to_owned()
            });
            if let Some(line) = line {
                (self.logged, self.note) = (Instant::now(), String::new());
                self.say(&line);
            }
            return;
        }
        const TURNS: [&str; 4] = ["|", "/", "-", "\\"];
        let elapsed = self.began.elapsed();
        let turn = TURNS[(elapsed.as_millis() / 100 % 4) as usize];
        let said = if self.note.is_empty() { self.last_line(&follower.head.name) } else { self.note.clone() };
        let seconds = elapsed.as_secs();
        let place = self.place_of(follower);
        let text = format!("{turn} {}  {}:{:02}  {place}  {said}", follower.head.name, seconds / 60, seconds % 60);
        // With wrapping turned off, the terminal cuts off a line that is too long.
        self.output.steer(&format!("{CLEAR}\x1b[?7l{}\x1b[?7h", escape::line(&text)));
        self.is_shown = true;
    }

    /// Returns the place of the run in words.
    fn place_of(&self, follower: &Follower) -> String {
        // A view's place says more than the names of the state and the activity.
        match self.place.is_empty() {
            true => format!("{}  {}", follower.live.place(), under_way(&follower.live)),
            false => self.place.clone(),
        }
    }

    /// Returns the line that a log gets now, if it is time for one: the last note of the activity, or else, more rarely,
    /// where the run is. So a log shows that the run goes on.
    fn line(&self, now: Instant, place: impl Fn() -> String) -> Option<String> {
        let quiet = now.duration_since(self.logged);
        let said = match self.note.is_empty() {
            false if quiet >= NOTE_EVERY => self.note.clone(),
            true if quiet >= SIGN_EVERY => place(),
            _ => return None,
        };
        let seconds = now.duration_since(self.began).as_secs();
        Some(format!("… {}:{:02}  {}", seconds / 60, seconds % 60, escape::line(&said)))
    }

    /// Removes the status line.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            self.output.steer(CLEAR);
        }
    }

    fn last_line(&self, run: &str) -> String {
        let files = live_files(&self.live_folder, run);
        files.last().and_then(|path| tail(path)).unwrap_or_default()
    }
}

fn under_way(live: &Live) -> String {
    let chart = live.loaded.chart();
    let words = live.activities.values().map(|begun| {
        let name = &chart.invoke(begun.invoke).activity;
        if begun.number > 1 { format!("{name} (attempt {})", begun.number) } else { name.clone() }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the last line of a file that is being written.
fn tail(path: &Path) -> Option<String> {
    let mut file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES_MAX))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The display of a log at its beginning.
    fn display(output: &Output) -> Progress<'_> {
        Progress { is_terminal: false, ..Progress::new(output, PathBuf::new(), Some("r1")) }
    }

    #[test]
    fn note_of_a_long_activity_is_a_line_of_the_log_after_ten_seconds() {
        let output = Output::new(false);
        let mut progress = display(&output);
        progress.note("first\ncase 7 of 20");
        let at = |seconds| progress.began + Duration::from_secs(seconds);
        let place = || unreachable!("there is a note");
        assert_eq!(progress.line(at(9), place), None);
        assert_eq!(progress.line(at(75), place).unwrap(), "… 1:15  case 7 of 20");
    }

    #[test]
    fn activity_that_notes_nothing_is_a_line_of_the_log_every_minute() {
        let output = Output::new(false);
        let progress = display(&output);
        let at = |seconds| progress.began + Duration::from_secs(seconds);
        let place = || "testing  command.run  ok 12".to_owned();
        assert_eq!(progress.line(at(59), place), None);
        assert_eq!(progress.line(at(60), place).unwrap(), "… 1:00  testing  command.run  ok 12");
    }
}

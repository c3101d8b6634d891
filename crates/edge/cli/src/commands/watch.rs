//! `interlock watch`: follows a run that another process runs, with the output of its activities.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_core::ActivityId;

use super::{Outcome, trace::json_line};
use crate::{
    Exit, about,
    closing::Closing,
    failure::Failure,
    family,
    follow::{End, Follower, Standing},
    output::Output,
    store::{Store, live_files},
    waiting, why,
};

/// The interval at which new records and output are read.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The most output that is shown at a time; the rest is shown in the next interval.
const PIECE_BYTES_MAX: u64 = 64 * 1_024;

/// Watches a run until it ends or waits.
pub(crate) fn run(run: &str, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(run)?;
    let mut follower = Follower::from_now(&store, head.clone())?;
    let mut outputs = Outputs::default();
    let began = standing(&store, &follower);
    output.talk(&began);
    let (mut is_told, mut shown) = (false, BTreeSet::new());
    loop {
        outputs.show(&store.live_folder(), &head.name, output)?;
        for step in follower.catch_up()? {
            match output.is_json() {
                true => step.moves.iter().try_for_each(|step| Ok::<_, Failure>(output.data(&json_line(step)?)?))?,
                false => why::lines(&step.moves).iter().try_for_each(|line| output.data(&format!("{line}\n")))?,
            }
        }
        match follower.standing() {
            Standing::Moving | Standing::Timer(_) => {}
            Standing::Person | Standing::Paused => {
                output.talk(&about::shown(&follower, &follower.offers()));
                output.talk(&waiting::text(&follower));
                break;
            }
            Standing::Over => break,
        }
        if let Some(asking) = family::asking(&follower)? {
            output.talk(&about::shown(&asking.follower, &asking.follower.offers()));
            output.talk(&waiting::text_for(&follower, &asking.follower));
            return conclude(&store, &follower, output);
        }
        tell_questions(&follower, &mut shown, output);
        if !is_told && follower.standing() == Standing::Moving && follower.holder()?.is_none() {
            output.talk(&format!("No process is running it. Continue it with `interlock resume {}`\n", head.name));
            is_told = true;
        }
        // Nobody watches any more, and the run may go on for days.
        if output.is_unread() {
            return Ok(Exit::Unread);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    // A run that had ended already, or waits as before, has been described.
    let ended = standing(&store, &follower);
    if ended != began {
        output.talk(&ended);
    }
    conclude(&store, &follower, output)
}

/// Prints the state of the run as `run --json` does, for programs, and returns the exit code.
fn conclude(store: &Store, follower: &Follower, output: &Output) -> Outcome {
    let left = Closing::of(store, follower, None, &[]).left();
    if output.is_json() {
        output.json_line(&left.json)?;
    }
    Ok(left.exit)
}

/// Returns the line that says where a run is, and why it ended there.
fn standing(store: &Store, follower: &Follower) -> String {
    let (phase, place, run) = (follower.phase(), follower.live.place(), &follower.head.name);
    if !phase.is_over() {
        return format!("{run} is {} in {place}\n", phase.word());
    }
    let end = store.find(run).ok().and_then(|head| End::read(store, &head).ok().flatten());
    let because = end.and_then(|end| end.reason).map(|reason| format!(": {}", reason.replace('\n', " ")));
    format!("{run} has ended: {} in {place}{}\n", phase.word(), because.unwrap_or_default())
}

/// Prints how to answer each new question of a running attempt.
fn tell_questions(follower: &Follower, shown: &mut BTreeSet<(ActivityId, u32, String)>, output: &Output) {
    let open = follower.live.open_questions().map(|asked| (asked.activity, asked.number, asked.id.clone()));
    for key in open.collect::<Vec<_>>() {
        let offers = follower.offers();
        let question = offers.asked.iter().find(|question| question.id == key.2);
        if let Some(question) = question.filter(|_| shown.insert(key)) {
            output.talk(&waiting::question(&follower.head.name, &offers, question));
        }
    }
}

/// The output files of attempts, each with the number of bytes shown so far.
#[derive(Default)]
struct Outputs(BTreeMap<PathBuf, u64>);

impl Outputs {
    fn show(&mut self, folder: &Path, run: &str, output: &Output) -> Result<(), Failure> {
        for path in live_files(folder, run) {
            let shown = self.0.entry(path.clone()).or_default();
            let Some(piece) = piece(&path, *shown) else { continue };
            *shown += piece.len() as u64;
            for line in String::from_utf8_lossy(&piece).lines() {
                output.talk(&format!("  | {}\n", line));
            }
        }
        Ok(())
    }
}

/// Returns the bytes added to a file since the given offset, up to the end of its last complete line.
fn piece(path: &Path, from: u64) -> Option<Vec<u8>> {
    let mut file = std::fs::File::open(path).ok()?;
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(PIECE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let is_full = bytes.len() as u64 == PIECE_BYTES_MAX;
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    bytes.truncate(end.unwrap_or(if is_full { bytes.len() } else { 0 }));
    (!bytes.is_empty()).then_some(bytes)
}

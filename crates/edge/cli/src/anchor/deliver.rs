//! Delivers anchors automatically to the destinations that `anchor.toml` in the store's directory names.
//!
//! Signing and sending happen on a separate thread. A run never waits for them; the command waits for them before it
//! ends.

#![expect(
    clippy::disallowed_methods,
    reason = "the settings name the file and the program, and no program can change them"
)]

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use interlock_journal::StoreHead;
use interlock_runtime::{Clock as _, SystemClock};
use interlock_sqlite::Journal;
use serde::Deserialize;

use super::{Anchor, Key, key};
use crate::failure::Failure;

/// The name of the settings file within the store's directory.
const FILE: &str = "anchor.toml";

/// Records between two anchors if the settings have no `every`.
const EVERY: u64 = 1_000;

/// The longest time that the delivery command may take.
const COMMAND_MAX: Duration = Duration::from_secs(60);

/// The interval at which a command is polled for its end.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// The content of `anchor.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// The file that holds the signing key.
    key: Option<PathBuf>,
    /// The number of records between two anchors.
    every: Option<u64>,
    /// A file that anchors are appended to.
    file: Option<PathBuf>,
    /// A program that gets each anchor as a line on its standard input.
    command: Vec<String>,
}

impl Settings {
    /// Reads the settings in a store's directory. If the file is missing, returns the defaults.
    pub(crate) fn read(home: &Path) -> Result<Self, Failure> {
        let path = home.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Settings::default()),
            Err(error) => return Err(Failure::file("read", &path, &error)),
        };
        let settings: Settings = toml::from_str(&text)
            .map_err(|error| Failure::bad_input(format!("{} cannot be used: {error}", path.display())))?;
        match settings.every {
            Some(0) => Err(Failure::bad_input(format!("{}: `every` must be at least 1", path.display()))),
            _ => Ok(settings),
        }
    }

    /// Returns the file of the signing key. It is an error if that file is inside the store.
    pub(crate) fn key_path(&self, named: Option<&Path>, home: &Path) -> Result<PathBuf, Failure> {
        let path = match named.or(self.key.as_deref()) {
            Some(path) => expand(path),
            None => key::default_path()?,
        };
        let path = std::path::absolute(&path).map_err(|error| Failure::file("read", &path, &error))?;
        match path.starts_with(home) {
            true => Err(Failure::bad_input(format!("the key {} lies in the store that it signs", path.display()))
                .hint("keep it outside $INTERLOCK_HOME, preferably on another computer")),
            false => Ok(path),
        }
    }

    /// Returns the file of the signing key that the settings name.
    pub(super) fn key(&self) -> Option<PathBuf> {
        self.key.as_deref().map(expand)
    }

    fn is_wanted(&self) -> bool {
        self.file.is_some() || !self.command.is_empty()
    }
}

fn expand(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => path.to_owned(),
    }
}

/// The background delivery of anchors. Dropping it waits until the last anchor is delivered.
#[derive(Debug)]
pub(crate) struct Delivery {
    to: Arc<Mutex<Option<Sender<StoreHead>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Delivery {
    /// Starts to anchor a store, if its settings ask for it.
    pub(crate) fn begin(home: &Path, journal: &Journal) -> Result<Option<Self>, Failure> {
        let settings = Settings::read(home)?;
        // A store that can only be read gets no records that could be anchored.
        if !settings.is_wanted() || journal.is_read_only() {
            return Ok(None);
        }
        let (key, _) = Key::read_or_create(&settings.key_path(None, home)?, home)?;
        let every = settings.every.unwrap_or(EVERY);
        let last = Mutex::new(journal.store_head()?.records);
        let (sender, heads) = channel();
        let to = Arc::new(Mutex::new(Some(sender)));
        let theirs = Arc::clone(&to);
        journal.on_commit(Box::new(move |head| {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if head.records / every > std::mem::replace(&mut *last, head.records) / every
                && let Some(to) = &*theirs.lock().unwrap_or_else(PoisonError::into_inner)
            {
                // The receiver ends only after the sender was dropped.
                let _ = to.send(head.clone());
            }
        }));
        let thread = std::thread::spawn(move || deliver_all(&heads, &key, &settings));
        Ok(Some(Delivery { to, thread: Some(thread) }))
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        drop(self.to.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Delivers an anchor for each head received. If several heads are queued, only the last is anchored: it covers the
/// others.
fn deliver_all(heads: &Receiver<StoreHead>, key: &Key, settings: &Settings) {
    while let Ok(first) = heads.recv() {
        let head = heads.try_iter().last().unwrap_or(first);
        let anchor = Anchor::new(&head, key, SystemClock.now_ms());
        let line = serde_json::to_string(&anchor).unwrap_or_default() + "\n";
        let sent = [append(settings.file.as_deref(), &line), run(&settings.command, &line)];
        for error in sent.into_iter().filter_map(Result::err) {
            let _ = writeln!(std::io::stderr(), "warning: an anchor could not be delivered: {error}");
        }
    }
}

fn append(file: Option<&Path>, line: &str) -> Result<(), String> {
    let Some(path) = file.map(expand) else { return Ok(()) };
    let written = std::fs::OpenOptions::new().append(true).create(true).open(&path).and_then(|mut file| {
        file.write_all(line.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| format!("{}: {error}", path.display()))
}

fn run(command: &[String], line: &str) -> Result<(), String> {
    let [program, arguments @ ..] = command else { return Ok(()) };
    let failed = |error: std::io::Error| format!("{program}: {error}");
    let found = interlock_beneath::programs::find(program, &[]).ok_or_else(|| {
        format!(
            "{program}: no such program outside of directories that runs can change; name its whole path in anchor.toml"
        )
    })?;
    let mut child =
        Command::new(found).args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that fails to read its input reports that with its exit code.
        let _ = stdin.write_all(line.as_bytes());
    }
    let deadline = Instant::now() + COMMAND_MAX;
    loop {
        match child.try_wait().map_err(failed)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("{program}: {status}")),
            None if Instant::now() < deadline => std::thread::sleep(ASK_AGAIN),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program} did not end within {} seconds", COMMAND_MAX.as_secs()));
            }
        }
    }
}

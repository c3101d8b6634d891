//! Resources that one run at a time may use: boards, script hosts, management controllers. Records their owners and
//! the waiting runs.
//!
//! ```text
//! RESOURCES/order            locked briefly by every process that reads or changes anything
//! RESOURCES/things/NAME      locked by the owner of the resource; names the owner
//! RESOURCES/tickets/NUMBER   locked by a waiting process; names it and the resources it waits for
//! ```
//!
//! Every claim is an operating system lock on a file, which ends with the process for any reason. So a dead process
//! keeps neither a resource nor a ticket: a file whose lock is free has no meaning. No clock and no heartbeat is
//! involved.
//!
//! Tickets are served in order: a resource is never given to a run while an earlier ticket waits for it.

#![expect(clippy::disallowed_methods, reason = "locks of environments are in the store, which no program can change")]

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use interlock_activity::Cancel;
use serde::{Deserialize, Serialize};

use crate::Trouble;

/// The interval at which waiting processes check again.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The longest time that another process may hold the order lock. The work under the lock takes about a millisecond.
const ORDER_MAX: Duration = Duration::from_secs(10);

/// The longest name of a resource: it becomes a file name.
const NAME_BYTES_MAX: usize = 80;

/// The largest file that is read as a claim.
const CLAIM_BYTES_MAX: u64 = 64 * 1024;

/// All resources of a store.
#[derive(Clone, Debug)]
pub struct Resources {
    folder: PathBuf,
}

/// An acquired resource. It is released when this value is dropped or the process ends.
#[derive(Debug)]
pub struct HeldResource {
    /// The name of the resource.
    pub name: String,
    /// The run that held it last, before this one.
    pub before: Option<String>,
    _lock: File,
}

/// A resource, its owner and the waiting runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resource {
    /// The name of the resource.
    pub name: String,
    /// The current owner, if any.
    pub holder: Option<Who>,
    /// The waiting runs, in the order of their tickets.
    pub waiting: Vec<Who>,
}

/// A run that holds or waits for a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    /// The name of the run.
    pub run: String,
    /// The process id of the owner or waiter.
    pub pid: u32,
    /// The time of the claim, in milliseconds since 1970.
    pub since_ms: i64,
}

/// The content of a resource file or a ticket file.
#[derive(Debug, Serialize, Deserialize)]
struct Claim {
    /// The held resource, or the resources of which one is wanted.
    names: Vec<String>,
    #[serde(flatten)]
    who: Who,
}

/// A place in the queue, given up on drop.
#[derive(Debug)]
struct Ticket {
    number: u64,
    path: PathBuf,
    _lock: File,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // The ticket is void as soon as its lock is released; removing the file only tidies up.
        let _ = fs::remove_file(&self.path);
    }
}

impl Resources {
    /// Returns the resources below a directory, which is created when first needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Resources { folder: folder.into() }
    }

    /// Returns the resources of a store.
    pub fn of_store(store: &Path) -> Self {
        Resources::new(store.join("resources"))
    }

    /// Acquires the first free resource of those named, or waits in the queue if none is free. `tell` receives the
    /// reason for waiting.
    pub async fn acquire(
        &self,
        names: &[String],
        run: &str,
        mut cancel: Cancel,
        tell: impl Fn(&str),
    ) -> Result<HeldResource, Trouble> {
        let claim = Claim { names: checked(names)?, who: Who::now(run) };
        let wait = async {
            let ticket = self.ticket(&claim).await?;
            let mut told = String::new();
            loop {
                match self.take(&claim, &ticket).await? {
                    TakeResult::Held(held) => return Ok(held),
                    TakeResult::Waiting(why) if why != told => {
                        tell(&why);
                        told = why;
                    }
                    TakeResult::Waiting(_) => {}
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::select! {
            held = wait => held,
            () = cancel.cancelled() => Err(Trouble::Cancelled),
        }
    }

    /// Lists every resource that was ever requested, by name, with its current state.
    pub async fn list(&self) -> Result<Vec<Resource>, Trouble> {
        if !self.folder.is_dir() {
            return Ok(Vec::new());
        }
        let _order = self.order().await?;
        let waiting = self.waiting()?;
        let mut all = Vec::new();
        for path in files(&self.things())? {
            let Some(name) = path.file_name().and_then(|name| decoded(name.to_str()?)) else { continue };
            let wants = |(_, claim): &&(u64, Claim)| claim.names.contains(&name);
            let waiting = waiting.iter().filter(wants).map(|(_, claim)| claim.who.clone()).collect();
            let holder = holder(&path)?.map(|claim| claim.who);
            all.push(Resource { name, holder, waiting });
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    fn things(&self) -> PathBuf {
        self.folder.join("things")
    }

    fn tickets(&self) -> PathBuf {
        self.folder.join("tickets")
    }

    /// Takes the order lock, which excludes all other processes until it is dropped.
    async fn order(&self) -> Result<File, Trouble> {
        for folder in [self.things(), self.tickets()] {
            fs::create_dir_all(folder)?;
        }
        let file = open(&self.folder.join("order"))?;
        let deadline = Instant::now() + ORDER_MAX;
        while !is_locked_now(&file)? {
            if Instant::now() > deadline {
                let place = self.folder.display();
                return Err(Trouble::environment(format!("another process has locked {place}")));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(file)
    }

    async fn ticket(&self, claim: &Claim) -> Result<Ticket, Trouble> {
        let _order = self.order().await?;
        let last = self.waiting()?.last().map_or(0, |(number, _)| *number);
        let number = last + 1;
        let path = self.tickets().join(format!("{number:010}"));
        let mut lock = open(&path)?;
        if !is_locked_now(&lock)? {
            return Err(Trouble::environment(format!("{} is in use", path.display())));
        }
        let ticket = Ticket { number, path, _lock: lock.try_clone()? };
        write(&mut lock, claim)?;
        Ok(ticket)
    }

    /// Returns all waiting claims with their ticket numbers, in order. Tickets without an owner are removed.
    fn waiting(&self) -> io::Result<Vec<(u64, Claim)>> {
        let mut all = Vec::new();
        for path in files(&self.tickets())? {
            let number = path.file_name().and_then(|name| name.to_str()?.parse().ok());
            match (number, holder(&path)?) {
                (Some(number), Some(claim)) => all.push((number, claim)),
                _ => drop(fs::remove_file(&path)),
            }
        }
        all.sort_by_key(|(number, _)| *number);
        Ok(all)
    }

    async fn take(&self, claim: &Claim, ticket: &Ticket) -> Result<TakeResult, Trouble> {
        let _order = self.order().await?;
        let waiting = self.waiting()?;
        let ahead: Vec<_> = waiting.into_iter().filter(|(number, _)| *number < ticket.number).collect();
        let mut holders = Vec::new();
        for name in &claim.names {
            let path = self.things().join(encoded(name));
            let mut lock = open(&path)?;
            let is_free = is_locked_now(&lock)?;
            if is_free && !ahead.iter().any(|(_, claim)| claim.names.contains(name)) {
                let before = read(&mut lock)?.map(|claim| claim.who.run);
                write(&mut lock, &Claim { names: vec![name.clone()], who: Who::now(&claim.who.run) })?;
                return Ok(TakeResult::Held(HeldResource { name: name.clone(), before, _lock: lock }));
            }
            if !is_free && let Some(Claim { who, .. }) = read(&mut lock)? {
                holders.push(format!("{name} is held by {} (process {})", who.run, who.pid));
            }
        }
        let ahead =
            match ahead.iter().filter(|(_, other)| other.names.iter().any(|name| claim.names.contains(name))).count() {
                0 => String::new(),
                1 => "; 1 waits before us".to_owned(),
                count => format!("; {count} wait before us"),
            };
        Ok(TakeResult::Waiting(format!("waiting for {}: {}{ahead}", claim.names.join(" or "), holders.join(", "))))
    }
}

/// The result of an attempt to take a resource.
enum TakeResult {
    Held(HeldResource),
    /// The reason for waiting, as text.
    Waiting(String),
}

impl Who {
    fn now(run: &str) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        Who { run: run.to_owned(), pid: std::process::id(), since_ms }
    }
}

fn checked(names: &[String]) -> Result<Vec<String>, Trouble> {
    if names.is_empty() {
        return Err(Trouble::environment("no resource is named"));
    }
    if let Some(name) = names.iter().find(|name| name.is_empty() || name.len() > NAME_BYTES_MAX) {
        let why = format!("`{name}` is not a valid resource name: it must have 1 to {NAME_BYTES_MAX} bytes");
        return Err(Trouble::environment(why));
    }
    Ok(names.to_vec())
}

/// Returns the claim of the process that holds a file's lock; `None` if no process does.
fn holder(path: &Path) -> io::Result<Option<Claim>> {
    let mut file = match File::options().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if is_locked_now(&file)? { Ok(None) } else { read(&mut file) }
}

/// Tries to take the lock; returns true if it succeeded.
fn is_locked_now(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn write(file: &mut File, claim: &Claim) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(claim)?)
}

/// Reads a claim; `None` if the file contains none.
fn read(file: &mut File) -> io::Result<Option<Claim>> {
    let mut text = Vec::new();
    file.rewind()?;
    Read::take(file, CLAIM_BYTES_MAX).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Encodes a name for a file: letters, digits and `-_` stay, every other byte becomes `%` and two hexadecimal digits.
fn encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    name.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

fn decoded(file: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), file.as_bytes());
    while let [first, others @ ..] = rest {
        rest = others;
        match (first, others) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_uniquely_and_decoded_again() {
        for name in ["board-1", "rack 3/slot ü", "..", ".", "%41", "A", "tcp:10.0.0.1:23"] {
            let file = encoded(name);
            assert!(!file.contains(['/', '.']), "{file}");
            assert_eq!(decoded(&file).as_deref(), Some(name));
        }
        assert_ne!(encoded("%41"), encoded("A"));
        assert_eq!(decoded("%zz"), None);
    }
}

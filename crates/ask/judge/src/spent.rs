//! The ledger of model usage per run, so that a budget also holds after a restart of the process.
//!
//! Every request is recorded before its answer is used, in one file per run: if the process crashes during a judgement
//! and the judgement is repeated, it is paid twice and counted twice. Each line carries the running total, so the read
//! cost does not depend on the length of the run.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use interlock_model::{Try, settings::Price};
use serde::{Deserialize, Serialize};

use crate::settings::Budget;

/// The maximum length of a line.
const LINE_BYTES_MAX: u64 = 4_096;

/// The minimum number of tokens for a useful answer.
const REPLY_TOKENS_MIN: u64 = 64;

/// The usage of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunUsage {
    /// The number of requests.
    pub requests: u64,
    /// The number of tokens, input and output together.
    pub tokens: u64,
    /// The cost, in the currency of the prices.
    pub cost: f64,
}

/// Records the usage of every run.
#[derive(Debug, Default)]
pub struct Ledger {
    folder: Option<PathBuf>,
    /// The totals in memory, for a ledger without a directory or if writing fails.
    memory: Mutex<HashMap<String, RunUsage>>,
    /// One lock per run: an allowance must still hold when it is spent.
    turns: Mutex<HashMap<String, Turn>>,
}

type Turn = Arc<tokio::sync::Mutex<()>>;

impl Ledger {
    /// Creates a ledger in the store's directory, or in memory only.
    pub fn new(home: Option<PathBuf>) -> Self {
        Ledger { folder: home.map(|home| home.join("spent")), ..Ledger::default() }
    }

    /// Returns the lock of a run; the holder may spend.
    pub fn turn(&self, run: &str) -> Turn {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(run.to_owned()).or_default())
    }

    /// Returns the usage of a run. Fails if it cannot be read: then nothing more may be spent.
    pub fn spent(&self, run: &str) -> Result<RunUsage, String> {
        let remembered = self.memory.lock().unwrap_or_else(PoisonError::into_inner).get(run).copied();
        let Some(path) = self.path(run) else { return Ok(remembered.unwrap_or_default()) };
        let read = last_line(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let Some(line) = read else { return Ok(remembered.unwrap_or_default()) };
        serde_json::from_str(&line).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Adds one request to the total of its run.
    pub fn add(&self, run: &str, tried: &Try) -> Result<RunUsage, String> {
        let mut spent = self.spent(run)?;
        spent.requests += 1;
        spent.tokens += tried.usage.input_tokens + tried.usage.output_tokens;
        spent.cost += tried.cost;
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).insert(run.to_owned(), spent);
        if let Some(path) = self.path(run) {
            append(&path, &spent).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(spent)
    }

    /// Returns the file of a run, with all unsafe characters of the run's name escaped.
    fn path(&self, run: &str) -> Option<PathBuf> {
        let plain = |sign: char| match sign {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => sign.to_string(),
            other => format!("%{:x}", u32::from(other)),
        };
        let name: String = run.chars().map(plain).collect();
        self.folder.as_ref().map(|folder| folder.join(format!("{name}.jsonl")))
    }
}

fn append(path: &PathBuf, spent: &RunUsage) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let line = serde_json::to_string(spent)?;
    // One write: if the process dies, the file has a whole line or none.
    OpenOptions::new().create(true).append(true).open(path)?.write_all(format!("{line}\n").as_bytes())
}

fn last_line(path: &PathBuf) -> std::io::Result<Option<String>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LINE_BYTES_MAX)))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned))
}

/// Returns the number of tokens that an answer may have within the budget, or the reason why no further question can be
/// asked.
pub fn allowance(budget: Budget, spent: RunUsage, price: Price, prompt_tokens: u64, most: u32) -> Result<u32, String> {
    let mut allowed = u64::from(most);
    if let Some(limit) = budget.tokens {
        allowed = allowed.min(limit.saturating_sub(spent.tokens).saturating_sub(prompt_tokens));
        if allowed < REPLY_TOKENS_MIN {
            return Err(format!(
                "{} of {limit} tokens are used up, and the question takes {prompt_tokens}",
                spent.tokens
            ));
        }
    }
    if let Some(limit) = budget.cost {
        let left = limit - spent.cost - price.of(prompt_tokens, 0);
        let each = price.of(0, 1);
        let affordable = if each > 0.0 {
            (left / each).max(0.0) as u64
        } else if left >= 0.0 {
            allowed
        } else {
            0
        };
        allowed = allowed.min(affordable);
        if allowed < REPLY_TOKENS_MIN {
            return Err(format!(
                "{:.4} of {limit} are spent, and the question costs {:.4}",
                spent.cost,
                price.of(prompt_tokens, 0)
            ));
        }
    }
    Ok(u32::try_from(allowed).unwrap_or(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlock_model::{Means, Usage};

    fn tried(input_tokens: u64, output_tokens: u64, cost: f64) -> Try {
        Try {
            judge: "j".into(),
            provider: "openai".into(),
            model: "m".into(),
            server: "s".into(),
            means: Means::Schema,
            begun_ms: 0,
            took_ms: 1,
            reply_tokens_max: 10,
            usage: Usage { input_tokens, output_tokens, is_estimate: false },
            cost,
            finish: None,
            answered_by: None,
            id: None,
            fault: None,
            confined: None,
        }
    }

    #[test]
    fn spending_is_known_to_the_next_process() {
        let home = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(Some(home.path().to_owned()));
        for _ in 0..100 {
            ledger.add("run/../1", &tried(10, 5, 0.25)).unwrap();
        }
        let next = Ledger::new(Some(home.path().to_owned()));
        assert_eq!(next.spent("run/../1"), Ok(RunUsage { requests: 100, tokens: 1_500, cost: 25.0 }));
        assert_eq!(next.spent("another"), Ok(RunUsage::default()));
        let files: Vec<_> =
            fs::read_dir(home.path().join("spent")).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, ["run%2f%2e%2e%2f1.jsonl"]);
    }

    #[test]
    fn unreadable_ledger_stops_spending() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("spent")).unwrap();
        fs::write(home.path().join("spent/r.jsonl"), "{\"requests\": 1, \"tok").unwrap();
        assert!(Ledger::new(Some(home.path().to_owned())).spent("r").is_err());
    }

    #[test]
    fn answer_length_is_limited_by_the_budget() {
        let price = Price { input_per_million: 1.0, output_per_million: 10.0 };
        let spent = |tokens, cost| RunUsage { requests: 1, tokens, cost };
        let budget = |tokens, cost| Budget { tokens, cost };
        let cases = [
            (budget(None, None), spent(9_999_999, 99.0), Ok(500)),
            (budget(Some(2_000), None), spent(0, 0.0), Ok(500)),
            (budget(Some(2_000), None), spent(800, 0.0), Ok(200)),
            (
                budget(Some(2_000), None),
                spent(950, 0.0),
                Err("950 of 2000 tokens are used up, and the question takes 1000"),
            ),
            (budget(None, Some(1.0)), spent(0, 0.995), Ok(400)),
            (budget(None, Some(1.0)), spent(0, 0.9989), Err("0.9989 of 1 are spent, and the question costs 0.0010")),
            (budget(None, Some(1.0)), spent(0, 7.0), Err("7.0000 of 1 are spent, and the question costs 0.0010")),
        ];
        for (budget, spent, expected) in cases {
            let found = allowance(budget, spent, price, 1_000, 500);
            assert_eq!(found, expected.map_err(str::to_owned), "{budget:?} {spent:?}");
        }
    }
}

//! Programs that environments are made of, such as `ssh` or `ipmitool`: found or named as missing, run in the sandbox, and what they said.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_activity::{Attempt, Canceller};
use interlock_program::{How, Tell};
use interlock_sandbox::Network;

use crate::{
    Bench, Trouble,
    confined::{self, Confined, Trust},
};

/// A program to run. It works in the session's folder, which it may change.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    program: String,
    arguments: Vec<OsString>,
    /// The package that has it, where it is not the user's own.
    package: Option<&'static str>,
    /// Variables on top of those every program sees.
    pub(crate) env: BTreeMap<String, String>,
    /// What it reads.
    pub(crate) stdin: Vec<u8>,
    /// When it is stopped.
    pub(crate) timeout: Duration,
    /// Whom it may talk to, where that is not what the settings say.
    pub(crate) network: Option<Network>,
    /// What else it may change.
    pub(crate) write: Vec<PathBuf>,
    /// What it must be able to read, though it may be where credentials are kept.
    pub(crate) read: Vec<PathBuf>,
    /// What those who watch hear of it.
    pub(crate) tell: Tell,
    /// Whether it runs although the attempt was told to stop, in order to clean up.
    pub(crate) is_last_words: bool,
}

/// What became of a program.
#[derive(Debug)]
pub(crate) struct Said {
    /// How it ended.
    pub(crate) how: How,
    /// What it printed.
    pub(crate) stdout: Vec<u8>,
    /// What it printed to standard error.
    pub(crate) stderr: Vec<u8>,
}

impl Tool {
    /// A program of a package.
    pub(crate) fn new(program: &str, package: &'static str, timeout: Duration) -> Self {
        Tool { package: Some(package), ..Tool::own(&[program.to_owned()], timeout) }
    }

    /// A program of the user's choice, with its arguments. Nothing is not a program; it is not found then.
    pub(crate) fn own(words: &[String], timeout: Duration) -> Self {
        Tool {
            program: words.first().cloned().unwrap_or_default(),
            arguments: words.iter().skip(1).map(OsString::from).collect(),
            package: None,
            env: BTreeMap::new(),
            stdin: Vec::new(),
            timeout,
            network: None,
            write: Vec::new(),
            read: Vec::new(),
            tell: Tell::NowAndThen,
            is_last_words: false,
        }
    }

    /// With more arguments.
    pub(crate) fn args(mut self, more: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(more.into_iter().map(Into::into));
        self
    }

    /// Whether it is there.
    pub(crate) fn find(&self, folder: &Path) -> Result<PathBuf, Trouble> {
        interlock_program::find(&self.program, folder, &self.env).map_err(|why| match self.package {
            Some(package) => Trouble::Missing { program: self.program.clone(), package: package.to_owned() },
            None => Trouble::Environment(why),
        })
    }

    /// Runs it to its end.
    pub(crate) async fn run(&self, bench: Bench<'_>) -> Result<Said, Trouble> {
        let program = self.find(&bench.session.folder)?;
        let confined = Confined {
            words: std::iter::once(program.into()).chain(self.arguments.iter().cloned()).collect(),
            folder: bench.session.folder.clone(),
            writable: bench.session.folder.clone(),
            env: self.env.clone(),
            timeout: self.timeout,
            tell: self.tell,
            trust: Trust::Settings { network: self.network, write: self.write.clone() },
        };
        let mut plan = confined.plan(bench)?;
        plan.stdin.clone_from(&self.stdin);
        plan.rules.hide.retain(|hidden| !self.read.iter().any(|needed| needed.starts_with(hidden)));
        // Whoever holds the other end would have to say stop; nobody does.
        let (_canceller, never) = Canceller::new();
        let attempt = match self.is_last_words {
            true => &Attempt { cancel: never, ..bench.attempt.clone() },
            false => bench.attempt,
        };
        let ended = interlock_program::run(attempt, &plan).await;
        let told = |outcome| Trouble::Environment(format!("{}: {}", self.program, confined::message(&outcome)));
        let mut ended = ended.map_err(told)?;
        match ended.how {
            How::Cancelled => Err(Trouble::Cancelled),
            how => Ok(Said { how, stdout: ended.stdout.content()?, stderr: ended.stderr.content()? }),
        }
    }

    /// Runs it; anything but a good end is trouble.
    pub(crate) async fn must(&self, bench: Bench<'_>) -> Result<Said, Trouble> {
        let said = self.run(bench).await?;
        match said.how {
            How::Exited { code: 0, .. } => Ok(said),
            _ => Err(Trouble::Environment(format!("`{}` {}", self.program, said.why(self.timeout)))),
        }
    }
}

impl Said {
    /// Its exit code, where it came to its own end.
    pub(crate) fn code(&self) -> Option<i64> {
        if let How::Exited { code, .. } = self.how { Some(code) } else { None }
    }

    /// How it ended, and the last thing it said.
    pub(crate) fn why(&self, timeout: Duration) -> String {
        let how = match &self.how {
            How::Exited { code, .. } => format!("ended with {code}"),
            How::TimedOut => format!("did not end within {} seconds", timeout.as_secs_f64()),
            How::Cancelled => "was stopped".to_owned(),
            How::Limited(why) => format!("was stopped: {why}"),
        };
        match self.last_line() {
            Some(line) => format!("{how}: {line}"),
            None => how,
        }
    }

    /// The last line with something on it, of what went wrong if anything was said about that.
    pub(crate) fn last_line(&self) -> Option<String> {
        let last = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
        };
        last(&self.stderr).or_else(|| last(&self.stdout))
    }

    /// What it printed, as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

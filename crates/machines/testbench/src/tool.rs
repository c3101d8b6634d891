//! Programs that environments use, such as `ssh` or `ipmitool`: finds them, runs them in the sandbox and returns
//! their output.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_activity::{Attempt, Canceller};
use interlock_process::{How, Tell};
use interlock_sandbox::Network;

use crate::{
    Bench, Trouble,
    confined::{Confined, Trust},
};

/// A program to run. It works in the session's directory and may write to it.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    program: String,
    arguments: Vec<OsString>,
    /// The package of the program; `None` if the user chose the program.
    package: Option<&'static str>,
    /// Variables in addition to the inherited ones.
    pub(crate) env: BTreeMap<String, String>,
    /// The program's standard input.
    pub(crate) stdin: Vec<u8>,
    /// The time after which the program is stopped.
    pub(crate) timeout: Duration,
    /// The network access, if it differs from the settings.
    pub(crate) network: Option<Network>,
    /// Additional writable paths.
    pub(crate) write: Vec<PathBuf>,
    /// Paths that it must be able to read, even if they are in a hidden credentials directory.
    pub(crate) read: Vec<PathBuf>,
    /// The lines of output that are reported as progress.
    pub(crate) tell: Tell,
    /// True if the program runs even after the attempt was cancelled, in order to clean up.
    pub(crate) is_last_words: bool,
}

/// The result of a program.
#[derive(Debug)]
pub(crate) struct Said {
    /// The way the program ended.
    pub(crate) how: How,
    /// The program's standard output.
    pub(crate) stdout: Vec<u8>,
    /// The program's standard error.
    pub(crate) stderr: Vec<u8>,
}

impl Tool {
    /// Creates a tool from a program of a package.
    pub(crate) fn new(program: &str, package: &'static str, timeout: Duration) -> Self {
        Tool { package: Some(package), ..Tool::own(&[program.to_owned()], timeout) }
    }

    /// Creates a tool from a program of the user's choice with its arguments. An empty list is accepted and fails
    /// when the program is looked up.
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

    /// Adds arguments to the tool.
    pub(crate) fn args(mut self, more: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(more.into_iter().map(Into::into));
        self
    }

    /// Resolves the program; a missing one is an error.
    pub(crate) fn find(&self, folder: &Path) -> Result<PathBuf, Trouble> {
        interlock_process::find(&self.program, folder, &self.env).map_err(|why| match self.package {
            Some(package) => Trouble::Missing { program: self.program.clone(), package: package.to_owned() },
            None => Trouble::Environment(why),
        })
    }

    /// Runs the program to its end.
    pub(crate) async fn run(&self, bench: Bench<'_>) -> Result<Said, Trouble> {
        let program = self.find(&bench.session.folder)?;
        let confined = Confined {
            words: std::iter::once(program.clone().into()).chain(self.arguments.iter().cloned()).collect(),
            folder: bench.session.folder.clone(),
            writable: bench.session.folder.clone(),
            env: self.env.clone(),
            timeout: self.timeout,
            tell: self.tell,
            trust: Trust::Settings { network: self.network, write: self.write.clone() },
        };
        let mut plan = confined.plan(bench)?;
        plan.stdin.clone_from(&self.stdin);
        plan.rules.show.extend(self.read.iter().cloned());
        plan.rules.show_program(&program);
        // The other end of this channel is kept and never used, so the program is never cancelled.
        let (_canceller, never) = Canceller::new();
        let attempt = match self.is_last_words {
            true => &Attempt { cancel: never, ..bench.attempt.clone() },
            false => bench.attempt,
        };
        let ended = interlock_process::run(attempt, &plan).await;
        let told = |outcome: interlock_activity::Outcome| {
            Trouble::Environment(format!("{}: {}", self.program, outcome.message()))
        };
        let mut ended = ended.map_err(told)?;
        match ended.how {
            How::Cancelled => Err(Trouble::Cancelled),
            how => Ok(Said { how, stdout: ended.stdout.content()?, stderr: ended.stderr.content()? }),
        }
    }

    /// Runs the program; any end except exit code 0 is an error.
    pub(crate) async fn must(&self, bench: Bench<'_>) -> Result<Said, Trouble> {
        let said = self.run(bench).await?;
        match said.how {
            How::Exited { code: 0, .. } => Ok(said),
            _ => Err(Trouble::Environment(format!("`{}` {}", self.program, said.why(self.timeout)))),
        }
    }
}

impl Said {
    /// Returns the exit code if the program ended by itself.
    pub(crate) fn code(&self) -> Option<i64> {
        if let How::Exited { code, .. } = self.how { Some(code) } else { None }
    }

    /// Describes the way the program ended, with its last line of output.
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

    /// Returns the last line that is not blank, from standard error if there is one.
    pub(crate) fn last_line(&self) -> Option<String> {
        let last = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
        };
        last(&self.stderr).or_else(|| last(&self.stdout))
    }

    /// Returns the standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

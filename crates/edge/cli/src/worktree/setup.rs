//! Runs the set-up command of a new worktree in the sandbox. It can change the worktree and has the network that the
//! user's settings give to programs.

use std::{
    io::{BufRead, BufReader, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::Duration,
};

use interlock_sandbox::{LaunchOrder, ProgramEnd, Report, Rules, workspace_of};
use interlock_workspace::Worktree;

use crate::{
    output::Output,
    store::{Store, sandbox},
};

/// The longest time that the command may take.
const TIME_MAX: Duration = Duration::from_secs(60 * 60);

/// Runs a shell command to its end. What it prints is talk.
pub(super) fn run(command: &str, tree: &Worktree, store: &Store, output: &Output) -> Result<(), String> {
    output.talk(&format!("setting up: {command}\n"));
    let ended = start(command, tree, store)?;
    match (ended.code, ended.signal, &ended.limit) {
        (Some(0), _, None) => Ok(()),
        (_, _, Some(limit)) => Err(format!("`{command}` was stopped: {limit}")),
        (Some(code), _, _) => Err(format!("`{command}` ended with the exit code {code}")),
        (None, signal, _) => Err(format!("`{command}` was ended by the signal {}", signal.unwrap_or_default())),
    }
}

fn start(command: &str, tree: &Worktree, store: &Store) -> Result<ProgramEnd, String> {
    let failed = |error: std::io::Error| format!("`{command}` could not be run: {error}");
    let confined = sandbox();
    let workspace = workspace_of(&tree.path).map_err(failed)?;
    let rules = Rules { store: Some(store.home.clone()), ..confined.usual_rules(workspace) };
    let order = LaunchOrder {
        mark: tree.path.clone(),
        words: ["/bin/sh", "-c", command].map(Into::into).into(),
        env: interlock_process::inherited().collect(),
        folder: tree.path.clone(),
        temp: std::env::temp_dir(),
        rules,
        ..LaunchOrder::default()
    };
    let (control, theirs) = UnixStream::pair().map_err(failed)?;
    let mut launcher = confined.launcher.command();
    launcher.stdin(OwnedFd::from(theirs)).stdout(std::io::stderr()).stderr(std::io::stderr());
    let mut child = launcher.spawn().map_err(failed)?;
    drop(launcher);
    let ended = order.to_line().and_then(|line| (&control).write_all(&line)).map_err(failed).and_then(|()| {
        control.set_read_timeout(Some(TIME_MAX)).map_err(failed)?;
        reported(&control, command)
    });
    // The launcher ends the command when the socket closes.
    drop(control);
    let _ = child.wait();
    ended
}

fn reported(control: &UnixStream, command: &str) -> Result<ProgramEnd, String> {
    for line in BufReader::new(control).lines() {
        let line = line.map_err(|error| format!("`{command}` did not end: {error}"))?;
        match serde_json::from_str(&line) {
            Ok(Report::Ended(ended)) => return Ok(ended),
            Ok(Report::NotStarted { why, .. }) => return Err(format!("`{command}` could not be started: {why}")),
            Ok(Report::Started(_)) | Err(_) => {}
        }
    }
    Err(format!("the launcher of `{command}` has died"))
}

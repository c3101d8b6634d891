//! One start on a script host.

use interlock_beneath::whole;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use interlock_process::How;

use super::{
    clixml, codes,
    config::{ScriptHost, slashed},
    console, image_path,
    shell::{self, Wanted},
    small, text,
};
use crate::{
    Bench, Ran, Start, Stop, Trouble, fetch,
    ssh::{CUT_OFF, Remote},
    tool::Said,
    walk::FILE_BYTES_MAX,
};

/// The time limit for ending leftover programs on the host.
const END_MAX: Duration = Duration::from_secs(60);

/// Runs one start on the host.
pub(crate) async fn run(bench: Bench<'_>, host: &ScriptHost, start: &Start, folder: &Path) -> Result<Ran, Trouble> {
    let begun = Instant::now();
    let id = shell::id(&bench.session.id, Some((&start.id, start.repetition)));
    let command = command(bench, host, start)?;
    forget_reports(bench, host).await?;
    let wanted = Wanted { id: &id, folder: &host.folder, command: &command, env: &start.environment_vars };
    let script = host.shell.script(wanted)?;
    let ended = Script { host, script: &script, timeout: start.timeout }.run(bench).await;
    let is_over = ended.as_ref().is_ok_and(|said| said.code().is_some_and(|code| code != CUT_OFF));
    if !is_over {
        // If the host cannot be reached any more, the script cannot be stopped, and the error is ignored.
        let _ = end(bench, host, &id).await;
    }
    let ended = ended?;
    let (code, stdout, stderr) = said(bench, host, &script, &ended);
    whole::write(folder.join("stdout.log"), &stdout)?;
    whole::write(folder.join("stderr.log"), &stderr)?;
    let mut artifacts = Vec::new();
    if text::is_foreign(&ended.stdout) {
        // The raw output is kept in case it was decoded wrongly.
        whole::write(folder.join("stdout.raw"), &ended.stdout)?;
        artifacts.push("stdout.raw".into());
    }
    let stop = stop(&ended, code);
    let faults = if let Stop::Exited { code } = stop { codes::fault(code).into_iter().collect() } else { Vec::new() };
    let reports = fetch_reports(bench, host, folder).await?;
    let logs = vec!["stdout.log".into(), "stderr.log".into()];
    let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let coverage = Default::default();
    Ok(Ran { start: start.clone(), stop, duration_ms, logs, reports, artifacts, faults, coverage })
}

fn command(bench: Bench<'_>, host: &ScriptHost, start: &Start) -> Result<String, Trouble> {
    let said = Some(&start.command).filter(|said| !said.is_empty()).or(host.command.as_ref());
    let said =
        said.ok_or_else(|| Trouble::config("command", "is missing: no program to run the tests is configured"))?;
    let args = start.args.iter().map(|arg| host.shell.quoted(arg)).collect::<Vec<_>>().join(" ");
    let image = host.shell.quoted(&image_path(bench, host));
    let folder = host.shell.quoted(&host.folder);
    let with_args = if said.contains("{args}") || args.is_empty() { said.clone() } else { format!("{said} {{args}}") };
    // Arguments may contain the text of a placeholder, so they are inserted last.
    Ok(with_args.replace("{image}", &image).replace("{folder}", &folder).replace("{args}", &args))
}

/// A script to be run on a host.
pub(crate) struct Script<'s> {
    pub(crate) host: &'s ScriptHost,
    pub(crate) script: &'s shell::Script,
    pub(crate) timeout: Duration,
}

impl Script<'_> {
    /// Copies the script's files to the host and runs it.
    pub(crate) async fn run(&self, bench: Bench<'_>) -> Result<Said, Trouble> {
        for (name, content) in &self.script.files {
            let path = bench.session.folder.join(name);
            whole::write(&path, content)?;
            let put = self.host.ssh.put(bench, &path, name).await;
            whole::remove_file(&path)?;
            put?;
        }
        self.host.ssh.run(bench, &Remote::quiet(self.script.line.clone(), self.timeout)).await
    }
}

/// Returns the exit code and the decoded output.
pub(crate) fn said(
    bench: Bench<'_>,
    host: &ScriptHost,
    script: &shell::Script,
    ended: &Said,
) -> (Option<i64>, String, String) {
    let console = console(bench);
    let read = |bytes: &[u8]| text::read(bytes, host.encoding, console);
    let (code, stderr) = script.ended(&clixml::words(&read(&ended.stderr)));
    (code, read(&ended.stdout), stderr)
}

fn stop(ended: &Said, code: Option<i64>) -> Stop {
    match (&ended.how, code) {
        (How::TimedOut, _) => Stop::TimedOut,
        (_, Some(code)) => Stop::Exited { code },
        (How::Exited { code: CUT_OFF, .. }, None) => {
            Stop::Lost { why: ended.last_line().unwrap_or_else(|| "the connection was lost".to_owned()) }
        }
        // A script that ends its shell cannot report its exit code; SSH passes only the last eight bits.
        (How::Exited { code, .. }, None) => Stop::Exited { code: *code },
        (How::Limited(why), None) => Stop::Lost { why: why.clone() },
        (How::Cancelled, None) => Stop::Lost { why: "it was cancelled".to_owned() },
    }
}

/// Ends every process whose command line contains the id.
pub(crate) async fn end(bench: Bench<'_>, host: &ScriptHost, id: &str) -> Result<(), Trouble> {
    let remote = Remote { is_last_words: true, ..Remote::quiet(shell::end(id), END_MAX) };
    let said = host.ssh.run(bench, &remote).await?;
    match said.code() {
        Some(0) => Ok(()),
        _ => Err(Trouble::environment(format!("the programs started on {} could not be ended", host.name))),
    }
}

/// Removes the reports of earlier starts, so that they are not taken for new ones.
async fn forget_reports(bench: Bench<'_>, host: &ScriptHost) -> Result<(), Trouble> {
    if host.reports.is_empty() {
        return Ok(());
    }
    let all: Vec<_> = host.reports.iter().map(|path| host.shell.remove(&host.path(path))).collect();
    // A missing report must not fail the script.
    let all = all.join("\n") + if host.shell == shell::Shell::Cmd { "\nexit /b 0" } else { "\nexit 0" };
    small(bench, host, "clean", &all).await.map(drop)
}

async fn fetch_reports(bench: Bench<'_>, host: &ScriptHost, folder: &Path) -> Result<Vec<PathBuf>, Trouble> {
    if host.reports.is_empty() {
        return Ok(Vec::new());
    }
    let here = folder.join("reports");
    whole::make_folders(&here)?;
    for path in &host.reports {
        // A missing report is also a result: its cases count as missing.
        if let Err(Trouble::Cancelled) = host.ssh.get(bench, &slashed(&host.path(path)), &here).await {
            return Err(Trouble::Cancelled);
        }
    }
    let files = fetch::files(&here)?;
    for file in &files {
        let content = whole::read(here.join(file), FILE_BYTES_MAX)?;
        if text::is_foreign(&content) {
            whole::write(here.join(file), text::read(&content, host.encoding, console(bench)))?;
        }
    }
    Ok(files.into_iter().map(|file| Path::new("reports").join(file)).collect())
}

//! `windows_script`: a Windows host over SSH that runs PowerShell or `cmd` scripts.

mod clixml;
mod codes;
mod config;
mod run;
mod shell;
pub(crate) mod text;

use interlock_beneath::whole;
use std::{collections::BTreeMap, path::Path, time::Duration};

use interlock_activity::EffectClass;

use self::{
    config::{ScriptHost, slashed},
    run::{Script, said},
    shell::Wanted as Wish,
    text::Page,
};
use crate::{
    Bench, Doing, Environment, FetchedFile, Operation, Profile, Ran, Reset, Start, Trouble,
    fetch::{self, Wanted},
    ssh::{Remote, Ssh},
    stop::stoppable,
};

/// The time limit of a short script.
const SMALL: Duration = Duration::from_secs(60);

/// The interval at which a restarting host is polled.
const ASK_EVERY: Duration = Duration::from_secs(2);

/// The session's file with the code page of the host's console.
const PAGE: &str = "code_page";

/// The hosts that a profile names.
#[derive(Clone, Debug)]
pub(crate) struct WindowsScript {
    hosts: Vec<ScriptHost>,
}

impl WindowsScript {
    /// Reads the hosts of a profile.
    pub(crate) fn new(profile: &Profile) -> Result<Self, Trouble> {
        Ok(WindowsScript { hosts: config::hosts(&profile.config)? })
    }

    fn host(&self, bench: Bench<'_>) -> Result<&ScriptHost, Trouble> {
        let found = match &bench.session.resource {
            Some(name) => self.hosts.iter().find(|host| host.name == *name),
            None => self.hosts.first(),
        };
        found.ok_or_else(|| {
            let name = bench.session.resource.as_deref().unwrap_or_default();
            Trouble::config("hosts", format!("has none with the name `{name}`"))
        })
    }

    async fn setup(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let host = self.host(bench)?;
        Ssh::installed(bench)?;
        // In every language, the code page is the only number in the line.
        let said = host.ssh.run(bench, &Remote::quiet("cmd /d /c chcp", SMALL)).await?;
        if said.code() != Some(0) {
            return Err(Trouble::environment(format!("{} does not answer: {}", host.name, said.why(SMALL))));
        }
        let digits: String = said.text().chars().filter(char::is_ascii_digit).collect();
        Ok(whole::write(bench.session.folder.join(PAGE), digits)?)
    }

    async fn deploy(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let host = self.host(bench)?;
        if !host.folder.is_empty() {
            small(bench, host, "folder", &host.shell.make_folder(&host.folder)).await?;
        }
        let Some(image) = &bench.session.image else { return Ok(()) };
        host.ssh.put(bench, image, &slashed(&image_path(bench, host))).await
    }

    async fn health_check(&self, bench: Bench<'_>) -> Result<String, Trouble> {
        let host = self.host(bench)?;
        let said = small(bench, host, "health", host.shell.version()).await?;
        let version = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned();
        match version.is_empty() {
            true => Err(Trouble::environment(format!("{} runs scripts, but they print nothing", host.name))),
            false => Ok(format!("it answers: {version}")),
        }
    }

    async fn fetch(
        &self,
        bench: Bench<'_>,
        into: &str,
        pick: fn(&ScriptHost) -> &[Wanted],
    ) -> Result<Vec<FetchedFile>, Trouble> {
        let host = self.host(bench)?;
        let folder = fetch::fresh(bench.session, into)?;
        for wanted in pick(host) {
            match wanted {
                Wanted::Path(path) => host.ssh.get(bench, &slashed(&host.path(path)), &folder).await?,
                Wanted::Command { name, command } => {
                    whole::write(folder.join(name), small(bench, host, "fetch", command).await?)?;
                }
            }
        }
        fetch::kept(&folder)
    }

    async fn reset(&self, bench: Bench<'_>, how: Reset) -> Result<String, Trouble> {
        let host = self.host(bench)?;
        let done = match (how, &host.restart) {
            (Reset::Restart, Some(restart)) => {
                // The connection may be lost before the command reports success.
                let _ = small(bench, host, "restart", restart).await;
                "it was restarted"
            }
            _ => {
                end_all(bench, host).await?;
                "the programs started on it were ended"
            }
        };
        let limit = Duration::from_secs(host.boot_sec);
        let seen = stoppable(bench, limit, &host.name, async {
            loop {
                match self.health_check(bench).await {
                    Ok(seen) => return Ok(seen),
                    Err(Trouble::Environment(_)) => tokio::time::sleep(ASK_EVERY).await,
                    Err(other) => return Err(other),
                }
            }
        });
        Ok(format!("{done}; {}", seen.await?))
    }

    async fn teardown(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let host = self.host(bench)?;
        end_all(bench, host).await?;
        let scripts = format!("{}*", shell::id(&bench.session.id, None));
        let remote = Remote::quiet(format!("cmd /d /c \"if exist {scripts} del /f /q {scripts}\""), SMALL);
        host.ssh.run(bench, &remote).await.map(drop)
    }
}

/// Returns the remote path of the image.
fn image_path(bench: Bench<'_>, host: &ScriptHost) -> String {
    let name = bench.session.image.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    host.path(host.image_path.as_deref().unwrap_or(&name))
}

/// Returns the output of a short script; any end except exit code 0 is an error.
async fn small(bench: Bench<'_>, host: &ScriptHost, name: &str, command: &str) -> Result<String, Trouble> {
    let id = shell::id(&bench.session.id, Some((name, 0)));
    let env = BTreeMap::new();
    let script = host.shell.script(Wish { id: &id, folder: "", command, env: &env })?;
    let ended = Script { host, script: &script, timeout: SMALL }.run(bench).await?;
    let (code, stdout, stderr) = said(bench, host, &script, &ended);
    // A script that ends its shell cannot report its exit code, so that of SSH is used.
    match code.or(ended.code()) {
        Some(0) => Ok(stdout),
        _ => {
            let code = code.map_or_else(|| ended.why(SMALL), |code| format!("ended with {code}"));
            let why = stderr.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            Err(Trouble::environment(format!("on {} `{command}` {code} {why}", host.name).trim_end()))
        }
    }
}

/// Ends all programs that a session has started.
async fn end_all(bench: Bench<'_>, host: &ScriptHost) -> Result<(), Trouble> {
    run::end(bench, host, &shell::id(&bench.session.id, None)).await
}

/// Returns the code page of the host's console, if the setup found it.
fn console(bench: Bench<'_>) -> Option<Page> {
    let number = std::fs::read_to_string(bench.session.folder.join(PAGE)).ok()?;
    Page::numbered(number.trim().parse().ok()?)
}

impl Environment for WindowsScript {
    fn effect(&self, operation: Operation) -> EffectClass {
        match operation {
            Operation::Setup | Operation::HealthCheck | Operation::Fetch => EffectClass::Read,
            _ => EffectClass::External,
        }
    }

    fn resources(&self) -> Vec<String> {
        self.hosts.iter().map(|host| host.name.clone()).collect()
    }

    fn setup<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(self.setup(bench))
    }

    fn deploy<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(self.deploy(bench))
    }

    fn health_check<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, String> {
        Box::pin(self.health_check(bench))
    }

    fn run<'a>(&'a self, bench: Bench<'a>, start: &'a Start, folder: &'a Path) -> Doing<'a, Ran> {
        Box::pin(async move { run::run(bench, self.host(bench)?, start, folder).await })
    }

    fn fetch_logs<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(self.fetch(bench, "logs", |host| &host.logs))
    }

    fn fetch_artifacts<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(self.fetch(bench, "artifacts", |host| &host.artifacts))
    }

    fn reset<'a>(&'a self, bench: Bench<'a>, how: Reset) -> Doing<'a, String> {
        Box::pin(self.reset(bench, how))
    }

    fn teardown<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(self.teardown(bench))
    }
}

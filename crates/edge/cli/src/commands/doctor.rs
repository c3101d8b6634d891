//! `interlock doctor`: checks that everything that runs need is installed and works.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

mod chains;
mod programs;

use std::{borrow::Cow, os::unix::fs::PermissionsExt as _, path::Path};

use interlock_chart::counted;
use interlock_journal::{Engine as _, Filter};
use interlock_judge::settings::{PERSON, Settings};
use interlock_sqlite::{Journal, sqlite_version};
use serde::Serialize;

use super::Outcome;
use crate::{Exit, failure::Failure, output::Output, store};

/// The least free disk space that is reported as good; with less, writes are likely to fail soon.
const ROOM_MIN_MIB: u64 = 256;

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    what: Cow<'static, str>,
    /// True if runs can work with it as it is.
    ok: bool,
    /// True if it is a program that is not installed and that only some runs need.
    missing: bool,
    said: String,
}

/// Runs all checks and prints their results.
pub(crate) fn run(output: &Output) -> Outcome {
    let home = store::home()?;
    let mut findings = vec![
        good("interlock", env!("CARGO_PKG_VERSION")),
        good("sqlite", sqlite_version()),
        kernel(),
        sandbox(&home),
        home_directory(&home),
        git(),
    ];
    findings.extend(programs::optional());
    findings.extend(store_findings(&home));
    findings.extend(judges(&home));
    findings.extend(agents(&home));
    let is_good = findings.iter().all(|finding| finding.ok);
    match output.is_json() {
        true => output.json(&findings)?,
        false => output.data(&lines(&findings, output))?,
    }
    Ok(if is_good { Exit::Good } else { Exit::Failed })
}

fn lines(findings: &[Finding], output: &Output) -> String {
    let width = findings.iter().map(|finding| finding.what.chars().count()).max().unwrap_or(0);
    let line = |Finding { what, ok, missing, said }: &Finding| {
        let mark = match (ok, missing) {
            (true, false) => output.green("✓"),
            (true, true) => "-".to_owned(),
            (false, _) => output.bad("✗"),
        };
        format!("{mark} {what:<width$} {said}\n")
    };
    findings.iter().map(line).collect()
}

fn good(what: impl Into<Cow<'static, str>>, said: impl Into<String>) -> Finding {
    Finding { what: what.into(), ok: true, missing: false, said: said.into() }
}

fn bad(what: impl Into<Cow<'static, str>>, said: impl Into<String>) -> Finding {
    Finding { what: what.into(), ok: false, missing: false, said: said.into() }
}

/// Sends a small request to every judge of `judges.toml`.
fn judges(home: &Path) -> Vec<Finding> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let probes = match runtime {
        Ok(runtime) => {
            runtime.block_on(interlock_judge::probe(Some(home), &crate::machine::here(), &crate::store::sandbox()))
        }
        Err(error) => Err(error.to_string()),
    };
    let (probes, settings) = match (probes, Settings::load(Some(home), &crate::machine::here())) {
        (Ok(probes), Ok(settings)) => (probes, settings),
        (Err(why), _) | (_, Err(why)) => return vec![bad("judges", why)],
    };
    let mut findings: Vec<Finding> = probes.into_iter().map(finding).collect();
    if findings.is_empty() {
        findings.push(without_models(&settings));
    }
    findings.extend(chains::unused(&settings));
    findings
}

/// Does the handshake with every agent of `agents.toml`. Without one, nothing is reported.
fn agents(home: &Path) -> Vec<Finding> {
    let probed = || -> Result<Vec<interlock_agent::Probe>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let attempt = interlock_judge::bare_attempt(scratch.path(), &crate::machine::here())?;
        let sandbox = crate::store::sandbox();
        let probes = interlock_agent::probe(Some(home), &attempt, &sandbox, scratch.path());
        runtime.map_err(|error| error.to_string())?.block_on(probes)
    };
    let finding = |probe: interlock_agent::Probe| Finding {
        what: format!("agent {}", probe.agent).into(),
        ok: probe.ok,
        missing: false,
        said: probe.said,
    };
    match probed() {
        Ok(probes) => probes.into_iter().map(finding).collect(),
        Err(why) => vec![bad("agents", why)],
    }
}

/// Describes the judges that are used if no model is configured: those of the configured chains, otherwise rules.
fn without_models(settings: &Settings) -> Finding {
    let who = |activity: &str| match settings.chain(activity).contains(&PERSON) {
        true => "a person answers",
        false => "the built-in rules answer",
    };
    let usual = who("default");
    let named = settings.chains.keys().filter(|name| *name != "default" && who(name) != usual);
    let others: String = named.map(|name| format!(", for {name} {}", who(name))).collect();
    good("judges", format!("no model is configured: {usual}{others}"))
}

fn finding(probe: interlock_judge::Probe) -> Finding {
    Finding { what: format!("judge {}", probe.judge).into(), ok: probe.ok, missing: false, said: probe.said }
}

fn kernel() -> Finding {
    let said = std::fs::read_to_string("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned());
    good("system", format!("{} {} {}", std::env::consts::OS, std::env::consts::ARCH, said.unwrap_or_default()).trim())
}

/// Checks the sandbox. Without Landlock, commands still run unless the configuration forbids it, so the missing support
/// is reported here.
fn sandbox(home: &Path) -> Finding {
    let ability = interlock_sandbox::ability(&interlock_sandbox::Launcher::default());
    match interlock_sandbox::Config::read(home) {
        Err(error) => bad("sandbox", error.to_string()),
        Ok(_) if ability.landlock_abi.is_some() && ability.seccomp => good("sandbox", ability.in_words()),
        Ok(_) => bad("sandbox", ability.in_words()),
    }
}

fn git() -> Finding {
    let without = "it cannot be started: without it the writes of runs cannot be undone";
    interlock_git::version().map_or_else(|| bad("git", without), |version| good("git", version))
}

/// Lists what programs can read in the home directory.
fn home_directory(store: &Path) -> Finding {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok()).unwrap_or_default();
    let rules = crate::store::sandbox().usual_rules(store.to_owned());
    let shown = rules.show.iter().filter(|place| place.exists()).filter_map(|place| place.strip_prefix(&home).ok());
    let shown: Vec<_> = shown.map(|place| place.display().to_string()).collect();
    let more = format!("add more to `show` in {}", store.join("sandbox.toml").display());
    let said = match shown.is_empty() {
        true => format!("programs can read nothing in {}; {more}", home.display()),
        false => format!("programs can read in {}: {}; {more}", home.display(), shown.join(", ")),
    };
    good("home", said)
}

fn store_findings(home: &Path) -> Vec<Finding> {
    let journal = match Journal::open(home) {
        Ok(journal) => journal,
        Err(error) => {
            let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
            return vec![bad("store", format!("{}: {error}{hint}", home.display()))];
        }
    };
    vec![
        good("store", home.display().to_string()),
        writable(home),
        private(home),
        room(home),
        integrity(&journal),
        runs(&journal),
    ]
}

/// Checks that the store is writable by writing and removing a file, which is more reliable than reading permissions
/// and mounts.
fn writable(home: &Path) -> Finding {
    let path = home.join(format!("doctor-{}", std::process::id()));
    let tried = std::fs::write(&path, b"x").and_then(|()| std::fs::remove_file(&path));
    match tried {
        Ok(()) => good("writable", "yes"),
        Err(error) => bad("writable", format!("no: {error}")),
    }
}

fn private(home: &Path) -> Finding {
    let mode = std::fs::metadata(home).map(|found| found.permissions().mode() & 0o777).unwrap_or_default();
    match mode & 0o077 {
        0 => good("permissions", format!("{mode:03o}")),
        _ => bad(
            "permissions",
            format!("mode {mode:03o}: other users can read the runs. Fix it with `chmod 700 {}`", home.display()),
        ),
    }
}

/// Checks the free disk space.
fn room(home: &Path) -> Finding {
    let Ok(disk) = rustix::fs::statvfs(home) else { return good("disk", "not known") };
    let free_mib = disk.f_bavail.saturating_mul(disk.f_frsize) / (1_024 * 1_024);
    match free_mib < ROOM_MIN_MIB {
        true => bad("disk", format!("only {free_mib} MiB are free")),
        false => good("disk", format!("{free_mib} MiB are free")),
    }
}

fn integrity(journal: &Journal) -> Finding {
    match journal.integrity() {
        Ok(said) if said.is_empty() => good("integrity", "the database is intact"),
        Ok(said) => bad("integrity", said.join("; ")),
        Err(error) => bad("integrity", error.to_string()),
    }
}

fn runs(journal: &Journal) -> Finding {
    let listed = journal.list(&Filter::default()).map_err(Failure::from);
    match listed {
        Ok(heads) => {
            let open = heads.iter().filter(|head| !head.phase.is_over()).count();
            good("runs", format!("{}, of which {}", heads.len(), counted(open, "has not ended", "have not ended")))
        }
        Err(_) => bad("runs", "cannot be listed"),
    }
}

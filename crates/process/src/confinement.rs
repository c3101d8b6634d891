//! Combines the permissions of programs: the machine's `with` fields override the user's settings, and the default
//! allows nothing.

use std::path::{Path, PathBuf};

use interlock_activity::{Arguments, Attempt, BadArgument, Outcome, Schema, code, schema};
use interlock_proxy::Allow;
use interlock_sandbox::{Config, Kind, Launcher, Limits, Network, Rules, workspace_of};

use crate::process::SANDBOX;

/// The fields of `with` that control confinement.
pub const FIELDS: [&str; 5] = ["sandbox", "network", "hosts", "write", "limits"];

const LIMITS: [&str; 6] = ["memory_mib", "processes", "file_mib", "open_files", "disk_mib", "free_mib"];

/// The confinement of programs for which the machine sets no rule.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// The launcher that starts programs. By default this very binary, whose `main` must then begin with
    /// [`interlock_sandbox::entry`].
    pub launcher: Launcher,
    /// The permissions from the user's settings.
    pub config: Config,
    /// The directory of the run store, which no program may read.
    pub store: Option<PathBuf>,
}

/// The schema of the fields of `with` that control confinement.
pub fn schema() -> Schema {
    schema::fields([
        ("sandbox", schema::one_of(&["landlock", "bubblewrap", "none"])),
        ("network", schema::one_of(&Network::ALL.map(Network::name))),
        ("hosts", schema::list(schema::plain())),
        ("write", schema::list(schema::plain())),
        ("limits", schema::fields(LIMITS.map(|name| (name, schema::whole())))),
    ])
}

impl Sandbox {
    /// Returns the rules for a program of an attempt.
    pub fn rules(&self, given: &Arguments<'_>, attempt: &Attempt) -> Result<Rules, Outcome> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let cannot = |error| Outcome::error(code::FAILED, format!("its directory cannot be used: {error}"));
        let workspace = workspace_of(&attempt.folder).map_err(cannot)?;
        let mut rules = self.config.rules(workspace, home.as_deref());
        rules.store.clone_from(&self.store);
        if let Some(name) = given.text("sandbox")? {
            rules.sandbox = Kind::named(name).ok_or_else(|| unknown("sandbox", name, "landlock, bubblewrap, none"))?;
        }
        if let Some(name) = given.text("network")? {
            let known = Network::ALL.map(Network::name).join(", ");
            rules.network = Network::named(name).ok_or_else(|| unknown("network", name, &known))?;
        }
        // The settings may list hosts for machines that say `network: only`.
        if rules.network != Network::Only {
            rules.hosts.clear();
        }
        if let Some(hosts) = given.texts("hosts")? {
            rules.hosts = hosts;
        }
        check_hosts(&rules)?;
        let write = given.texts("write")?.unwrap_or_default();
        rules.write.extend(write.iter().map(|place| absolute(place, &attempt.folder, home.as_deref())));
        rules.limits = limits(given, rules.limits)?;
        if rules.required && rules.sandbox == Kind::None {
            return Err(Outcome::error(SANDBOX, "a sandbox is required here, but the machine has `sandbox: none`"));
        }
        Ok(rules)
    }
}

/// Checks that hosts are listed if and only if the program may reach listed hosts, and that they can be read.
fn check_hosts(rules: &Rules) -> Result<(), BadArgument> {
    match (rules.network, rules.hosts.is_empty()) {
        (Network::Only, true) => {
            Err(BadArgument::field("hosts", "is missing: `network: only` needs the hosts to reach"))
        }
        (Network::Only, false) => {
            Allow::parse(&rules.hosts).map(drop).map_err(|error| BadArgument::field("hosts", error.to_string()))
        }
        (_, false) => Err(BadArgument::field("hosts", "needs `network: only`")),
        (_, true) => Ok(()),
    }
}

fn unknown(field: &str, name: &str, known: &str) -> BadArgument {
    BadArgument::field(field, format!("is `{name}`; use one of {known}"))
}

fn absolute(place: &str, folder: &Path, home: Option<&Path>) -> PathBuf {
    match (place.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(place),
    }
}

fn limits(given: &Arguments<'_>, mut limits: Limits) -> Result<Limits, BadArgument> {
    let Some(said) = given.value("limits") else { return Ok(limits) };
    let said = Arguments::new(said, &LIMITS)?;
    let fields = [
        &mut limits.memory_mib,
        &mut limits.processes,
        &mut limits.file_mib,
        &mut limits.open_files,
        &mut limits.disk_mib,
        &mut limits.free_mib,
    ];
    for (name, field) in LIMITS.into_iter().zip(fields) {
        *field = said.whole(name)?.unwrap_or(*field);
    }
    Ok(limits)
}

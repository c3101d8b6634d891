//! Combines the permissions of programs: the machine's `with` fields override the user's settings, and the default
//! allows nothing.

use std::path::{Path, PathBuf};

use interlock_activity::{Arguments, Attempt, BadArgument, Outcome, Schema, code, schema};
use interlock_sandbox::{Config, Kind, Launcher, Limits, Network, Rules, workspace_of};

use crate::process::SANDBOX;

/// The fields of `with` that control confinement.
pub const FIELDS: [&str; 4] = ["sandbox", "network", "write", "limits"];

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
        ("network", schema::one_of(&["off", "unix", "loopback", "on"])),
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
            rules.network = Network::named(name).ok_or_else(|| unknown("network", name, "off, unix, loopback, on"))?;
        }
        let write = given.texts("write")?.unwrap_or_default();
        rules.write.extend(write.iter().map(|place| absolute(place, &attempt.folder, home.as_deref())));
        rules.limits = limits(given, rules.limits)?;
        if rules.required && rules.sandbox == Kind::None {
            return Err(Outcome::error(SANDBOX, "a sandbox is required here, but the machine has `sandbox: none`"));
        }
        Ok(rules)
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

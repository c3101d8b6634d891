//! Combines the permissions of programs: the machine's `with` fields override the user's settings, and the default
//! allows nothing.

use std::path::{Path, PathBuf};

use interlock_activity::{Arguments, Attempt, BadArgument, Outcome, Schema, code, schema};
use interlock_policy::{Command, Freedom, PathOp, Request};
use interlock_proxy::Allow;
use interlock_sandbox::{Account, Config, Kind, Launcher, Limits, Network, Rules, workspace_of};

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
    /// The keys that sign anchors, which no program may read wherever they are.
    pub keys: Vec<PathBuf>,
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
    /// Returns the rules for a program that works on a workspace, as the user's settings have them.
    pub fn usual_rules(&self, workspace: PathBuf) -> Rules {
        let rules = self.config.rules(workspace, &Account::current());
        Rules { store: self.store.clone(), never: self.keys.clone(), ..rules }
    }

    /// Returns the rules for a program of an attempt.
    pub fn rules(&self, given: &Arguments<'_>, attempt: &Attempt) -> Result<Rules, Outcome> {
        let home = Account::current().home;
        let cannot = |error| Outcome::error(code::FAILED, format!("its directory cannot be used: {error}"));
        let workspace = workspace_of(&attempt.folder).map_err(cannot)?;
        check_way(&attempt.folder, &workspace)?;
        let mut rules = Rules { folder: attempt.folder.clone(), ..self.usual_rules(workspace) };
        check_keys(&rules)?;
        rules.sandbox = kind(given)?.unwrap_or(rules.sandbox);
        rules.network = network(given)?.unwrap_or(rules.network);
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

impl Sandbox {
    /// Returns requests for the ways in which a machine relaxes the sandbox of a command, beyond what the user's settings
    /// allow every program: writes outside of the workspace, the network, no sandbox at all.
    pub fn freedoms(
        &self,
        given: &Arguments<'_>,
        folder: &Path,
        command: &Command,
    ) -> Result<Vec<Request>, BadArgument> {
        let command = match command {
            Command::Shell(text) => text.clone(),
            Command::Words(words) => words.join(" "),
        };
        let (write, network, kind) = (given.texts("write")?.unwrap_or_default(), network(given)?, kind(given)?);
        let is_new = |place: &String| !self.config.write.iter().any(|known| known.as_os_str() == place.as_str());
        // Policy resolves paths from the root of the workspace, the sandbox from the directory of the run.
        let absolute = |place: String| match place.starts_with('~') {
            true => place,
            false => folder.join(place).to_string_lossy().into_owned(),
        };
        let path = |place| Request::Path { op: PathOp::WriteBelow, path: absolute(place) };
        let mut requests: Vec<Request> = write.into_iter().filter(is_new).map(path).collect();
        if network == Some(Network::On) && self.config.network != Network::On {
            requests.push(Request::Unconfined { freedom: Freedom::AnyHost, command: command.clone() });
        }
        requests.extend(self.new_hosts(given, network.unwrap_or(self.config.network))?);
        if kind == Some(Kind::None) && self.config.sandbox != Kind::None {
            requests.push(Request::Unconfined { freedom: Freedom::NoSandbox, command });
        }
        Ok(requests)
    }

    /// Returns requests for the hosts that a program may reach with `network: only`, except those that the settings list.
    fn new_hosts(&self, given: &Arguments<'_>, network: Network) -> Result<Vec<Request>, BadArgument> {
        if network != Network::Only || self.config.network == Network::On {
            return Ok(Vec::new());
        }
        let listed = given.texts("hosts")?.unwrap_or_default();
        let listed = Allow::parse(&listed).map_err(|error| BadArgument::field("hosts", error.to_string()))?;
        let known = Allow::parse(&self.config.hosts).unwrap_or_default();
        let known: Vec<_> = known.hosts().collect();
        let new = listed.hosts().filter(|host| !known.contains(host));
        Ok(new.map(|(host, port)| Request::Connect { host, port: Some(port) }).collect())
    }
}

/// Returns the sandbox that a machine names.
fn kind(given: &Arguments<'_>) -> Result<Option<Kind>, BadArgument> {
    let Some(name) = given.text("sandbox")? else { return Ok(None) };
    Kind::named(name).map(Some).ok_or_else(|| unknown("sandbox", name, "landlock, bubblewrap, none"))
}

/// Returns the network that a machine names.
fn network(given: &Arguments<'_>) -> Result<Option<Network>, BadArgument> {
    let Some(name) = given.text("network")? else { return Ok(None) };
    let known = Network::ALL.map(Network::name).join(", ");
    Network::named(name).map(Some).ok_or_else(|| unknown("network", name, &known))
}

/// Checks that no link led from a directory to its workspace. A program of the run may have put it there, and the next
/// program would be allowed to write wherever it leads.
fn check_way(folder: &Path, workspace: &Path) -> Result<(), Outcome> {
    if folder.starts_with(workspace) {
        return Ok(());
    }
    let (folder, workspace) = (folder.display(), workspace.display());
    let why = format!("{folder} leads to {workspace} by a symbolic link. Put the directory back, or start a new run");
    Err(Outcome::error(code::FAILED, why))
}

/// Checks that no key is in the workspace: nothing could be created beside it if it were hidden there.
fn check_keys(rules: &Rules) -> Result<(), Outcome> {
    let is_inside = |key: &&PathBuf| key.canonicalize().is_ok_and(|key| key.starts_with(&rules.workspace));
    let Some(key) = rules.never.iter().find(is_inside) else { return Ok(()) };
    let (key, workspace) = (key.display(), rules.workspace.display());
    let next = "Move it to another directory, and name its new path as `key` in anchor.toml";
    Err(Outcome::error(SANDBOX, format!("the key {key}, which signs anchors, is in the workspace {workspace}. {next}")))
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

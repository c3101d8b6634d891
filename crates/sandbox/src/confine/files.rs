//! Files, and with them processes: Landlock.
//!
//! A process in a Landlock domain can trace, and from ABI 6 on signal, only what is in it; so the debuggers and leak checkers of a build go on
//! working while nothing outside can be touched.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use super::Refusal;
use crate::{Enforced, Network, Rules, ability, places, repository};

/// The newest version whose rules this is made for and was tried with.
const NEWEST: ABI = ABI::V7;

/// The first that keeps signals inside.
const SCOPES_SIGNALS: i32 = 6;

/// Devices that are no more than streams.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Where all that is denied is made known; otherwise the kernel's log fills.
fn changing() -> BitFlags<AccessFs> {
    let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});
    AccessFs::from_all(NEWEST) & !devices
}

fn using_devices() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev})
}

/// Restricts this process. Where the kernel cannot, that is written down.
///
/// `own` is a place besides the temporary directory that nobody else has.
pub(crate) fn restrict(rules: &Rules, temp: &Path, own: Option<&Path>, enforced: &mut Enforced) -> Result<(), Refusal> {
    let wrong = |error: landlock::RulesetError| Refusal::cannot(format!("Landlock: {error}"));
    let hidden = rules.hidden(own);
    if rules.is_store_open() {
        enforced
            .missing
            .push("runs are kept within the workspace: the program can read and change what is kept".into());
    }
    let ruleset = create(rules.network).map_err(wrong)?;
    let ruleset = reading(ruleset, &hidden).map_err(wrong)?;
    let mut ruleset = writing(ruleset, rules, temp, &hidden, enforced).map_err(wrong)?;
    if let Some(own) = own {
        ruleset = allow(ruleset, own, changing()).map_err(wrong)?;
    }
    let status = ruleset.restrict_self().map_err(wrong)?;
    enforced.hidden = hidden.iter().map(|place| place.display().to_string()).collect();
    match (status.ruleset, ability::version(status.landlock)) {
        (RulesetStatus::NotEnforced, _) | (_, None) => {
            enforced.missing.push("this kernel has no Landlock: files and processes are open to the program".into());
        }
        (_, Some(version)) => note(version, rules.network, enforced),
    }
    Ok(())
}

fn note(version: i32, network: Network, enforced: &mut Enforced) {
    enforced.landlock_abi = Some(version);
    enforced.processes_apart |= version >= SCOPES_SIGNALS;
    if matches!(network, Network::Off | Network::Unix) && version >= 4 {
        enforced.network_by.push("landlock".into());
    }
    let lacks = [
        (2, "files cannot be renamed between directories"),
        (3, "files outside can be made empty"),
        (5, "devices can be controlled"),
        (SCOPES_SIGNALS, "processes outside can be signalled"),
    ];
    let is_apart = |since: i32| since == SCOPES_SIGNALS && enforced.processes_apart;
    let lacks: Vec<_> = lacks.iter().filter(|(since, _)| version < *since && !is_apart(*since)).collect();
    enforced
        .missing
        .extend(lacks.into_iter().map(|(since, what)| format!("Landlock {version} is older than {since}: {what}")));
}

fn create(network: Network) -> Result<RulesetCreated, landlock::RulesetError> {
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?;
    if matches!(network, Network::Off | Network::Unix) {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    ruleset.create()
}

/// Names may be seen everywhere; what is in files only where nothing is hidden.
fn reading(ruleset: RulesetCreated, hidden: &[PathBuf]) -> Result<RulesetCreated, landlock::RulesetError> {
    let root = Path::new("/");
    let ruleset = allow(ruleset, root, AccessFs::ReadDir.into())?;
    let readable = make_bitflags!(AccessFs::{ReadFile | Execute});
    places::around(root, hidden).iter().try_fold(ruleset, |ruleset, place| allow(ruleset, place, readable))
}

fn writing(
    mut ruleset: RulesetCreated,
    rules: &Rules,
    temp: &Path,
    hidden: &[PathBuf],
    enforced: &mut Enforced,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let git = repository::git_folders(&rules.workspace);
    let own = git
        .iter()
        .chain([&rules.workspace])
        .filter(|place| !place.starts_with(&rules.workspace) || *place == &rules.workspace);
    for place in own.chain(&rules.write) {
        let Ok(place) = std::fs::canonicalize(place) else { continue };
        if places::is_apart(&place, hidden) {
            enforced
                .missing
                .push(format!("{} has hidden places in it: nothing new can be made at its top", place.display()));
        }
        let rights = if place.starts_with("/dev") { changing() | using_devices() } else { changing() };
        for part in places::around(&place, hidden) {
            ruleset = allow(ruleset, &part, rights)?;
        }
        enforced.write.push(place.display().to_string());
    }
    ruleset = allow(ruleset, temp, changing())?;
    DEVICES.iter().try_fold(ruleset, |ruleset, device| allow(ruleset, Path::new(device), using_devices()))
}

/// What is not there any more needs no rule. Rights that only directories have are left out for files.
fn allow(
    ruleset: RulesetCreated,
    place: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    match PathFd::new(place) {
        Ok(place) => ruleset.add_rule(PathBeneath::new(place, rights)),
        Err(_) => Ok(ruleset),
    }
}

//! Restricts access to files, and with it access to processes, with Landlock.
//!
//! A process in a Landlock domain can trace only processes in the same domain, and from ABI 6 on it can signal only
//! those. So debuggers and leak checkers of a build work, but processes outside are out of reach.

use std::path::{Path, PathBuf};

use interlock_beneath::{Error, whole::open_place};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use super::Refusal;
use crate::{Enforced, LaunchOrder, Network, Rules, WorkspaceAccess, ability, places, reading::Reading};

/// The newest ABI version that these rules were written for and tested with.
const NEWEST: ABI = ABI::V7;

/// The first ABI version that restricts signals.
const SCOPES_SIGNALS: i32 = 6;

/// The hint with which a person can let programs read more in a home.
const SHOW_MORE: &str = "add the place to `show` in sandbox.toml, in Interlock's home directory";

/// Devices that are only streams.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The places of pseudo-terminals.
const TERMINALS: [&str; 2] = ["/dev/ptmx", "/dev/pts"];

/// Returns the rights for a place that the program may change: all except those on devices.
fn changing() -> BitFlags<AccessFs> {
    let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});
    AccessFs::from_all(NEWEST) & !devices
}

fn using_devices() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev})
}

/// Restricts this process. If the kernel lacks a feature, `enforced` records it.
///
/// `own` is a private place of the program besides its temporary directory, and `open` has places in a workspace that it
/// must not change otherwise. `has_terminals` says that the terminals that
/// it sees are its own.
pub(crate) fn restrict(
    order: &LaunchOrder,
    temp: &Path,
    (own, open): (Option<&Path>, &[PathBuf]),
    has_terminals: bool,
    enforced: &mut Enforced,
) -> Result<(), Refusal> {
    let rules = &order.rules;
    let wrong = |error: landlock::RulesetError| Refusal::cannot(format!("Landlock: {error}"));
    let hidden = rules.hidden(own);
    let ruleset = create(rules.network).map_err(wrong)?;
    let reading = Reading::new(rules, &hidden, order.words.first().map(Path::new));
    let ruleset = allow_reading(ruleset, &reading.places).map_err(wrong)?;
    let mut ruleset = writing(ruleset, (rules, open), temp, &hidden, enforced).map_err(wrong)?;
    if let Some(own) = own {
        ruleset = allow(ruleset, own, changing()).map_err(wrong)?;
    }
    for terminal in TERMINALS.iter().filter(|_| has_terminals) {
        ruleset = allow(ruleset, Path::new(terminal), changing() | using_devices()).map_err(wrong)?;
    }
    let status = ruleset.restrict_self().map_err(wrong)?;
    let said = |places: &[PathBuf]| places.iter().map(|place| place.display().to_string()).collect();
    enforced.hidden.extend(said(&hidden));
    (enforced.closed, enforced.shown) = (said(&reading.closed), said(&reading.shown));
    enforced.to_show_more = SHOW_MORE.to_owned();
    match (status.ruleset, ability::version(status.landlock)) {
        (RulesetStatus::NotEnforced, _) | (_, None) => {
            enforced
                .missing
                .push("this kernel has no Landlock: the program can access all files and processes of the user".into());
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
        (3, "files outside can be truncated"),
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

/// Allows listing directories everywhere, and reading files in these places.
fn allow_reading(ruleset: RulesetCreated, places: &[PathBuf]) -> Result<RulesetCreated, landlock::RulesetError> {
    let ruleset = allow(ruleset, Path::new("/"), AccessFs::ReadDir.into())?;
    let readable = make_bitflags!(AccessFs::{ReadFile | Execute});
    places.iter().try_fold(ruleset, |ruleset, place| match open_place(place) {
        Ok(opened) => ruleset.add_rule(PathBeneath::new(opened, readable)),
        Err(_) => Ok(ruleset),
    })
}

fn writing(
    mut ruleset: RulesetCreated,
    (rules, open): (&Rules, &[PathBuf]),
    temp: &Path,
    hidden: &[PathBuf],
    enforced: &mut Enforced,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let git = rules.writable_git();
    let own = git
        .iter()
        .chain([&rules.workspace])
        .filter(|place| !place.starts_with(&rules.workspace) || *place == &rules.workspace)
        .filter(|_| enforced.workspace != WorkspaceAccess::ReadOnly)
        .collect::<Vec<_>>();
    // The paths of the workspace and its repository were resolved before. They can lie in a directory that other programs
    // change, so they are not resolved again.
    let named = rules.write.iter().filter_map(|place| std::fs::canonicalize(place).ok());
    for place in own.into_iter().chain(open).cloned().chain(named) {
        if places::is_apart(&place, hidden) {
            enforced
                .missing
                .push(format!("{} contains hidden paths: nothing can be created directly in it", place.display()));
        }
        let rights = if place.starts_with("/dev") { changing() | using_devices() } else { changing() };
        let mut is_open = false;
        for part in places::around(&place, hidden) {
            match open_place(&part) {
                Ok(opened) => {
                    ruleset = ruleset.add_rule(PathBeneath::new(opened, rights))?;
                    is_open = true;
                }
                Err(error @ Error::Link { .. }) => enforced.missing.push(format!("it cannot be written: {error}")),
                // A place that no longer exists needs no rule.
                Err(_) => {}
            }
        }
        let is_thrown_away = enforced.workspace == WorkspaceAccess::Private && place == rules.workspace;
        let said = place.display().to_string();
        if is_open && !is_thrown_away && !enforced.write.contains(&said) {
            enforced.write.push(said);
        }
    }
    ruleset = allow(ruleset, temp, changing())?;
    DEVICES.iter().try_fold(ruleset, |ruleset, device| allow(ruleset, Path::new(device), using_devices()))
}

/// Adds a rule for a place of the system, which may be a link. One that does not exist needs no rule. Rights that only
/// apply to directories are left out for files.
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

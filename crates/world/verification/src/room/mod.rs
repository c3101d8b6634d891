//! The verification room: decides whether a green check says anything about a change.
//!
//! A check counts only if all of this holds, and everything is measured, not believed:
//!
//! 1. **The tested tree is the committed tree.** The check runs in a copy of exactly that tree (`stage.rs`), with the
//!    dependencies that were there when the run began (`dependencies.rs`).
//! 2. **The same checks**, and 3. **the same cases.** The check runs on the base tree first. Then the tests, definitions and
//!    data of the base tree run against the new sources (`old.rs`): what passes must pass with the old text too, and no
//!    case may disappear (`compare.rs`).
//! 4. **Able to fail.** The changed sources are broken on purpose, and the check must turn red (`probe.rs`).
//!
//! The room chooses no commands and asks no person: the activities of the machines do. It writes nothing to the workspace.

mod breaking;
mod compare;
mod definitions;
mod dependencies;
mod expected;
mod files;
mod kinds;
mod lines;
mod names;
mod old;
mod probe;
mod reading;
mod redefined;
mod repository;
mod settings;
mod shadow;
mod splice;
mod stage;
mod surroundings;
mod texts;
mod tree;
mod uses;
mod verdict;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use interlock_activity::{Attempt, Outcome, code};
use interlock_beneath::Folder;
use interlock_codemap::patches;
use interlock_journal::Evidence;
use interlock_process::Sandbox;
use interlock_sandbox::Rules;
use interlock_workspace::{Moved, Workspace};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::{
    CommandRun,
    changed_checks::EVIDENCE,
    environment::is_missing_program,
    environment_fault,
    run::{TIMED_OUT, run_in},
};
use dependencies::Inventory;
use kinds::Part;
pub use kinds::is_test;
use settings::Settings;
use stage::{Build, Ground, Stage};
use tree::Trees;
use uses::Uses;
use verdict::Measured;
pub use verdict::{Verdict, Warning};

/// The beginning of the objection to a change that only a person can make committable.
pub const UNCOMMITTABLE: &str = "the change cannot be committed as it is";

/// The beginning of the objection to a branch that the run does not know, about which only a person can decide.
pub const FOREIGN: &str = "somebody else than this run has moved the branch";

/// Variables that make runners print the names of cases, and keep stale results and byte code of a turn out of the room.
const ENVIRONMENT: [(&str, &str); 3] =
    [("PYTEST_ADDOPTS", "-rA"), ("GOFLAGS", "-v -count=1"), ("PYTHONPYCACHEPREFIX", "/nonexistent/pycache")];

/// The beginnings of the names of directories that exist only during a verification.
pub(crate) const PLACE: &str = "stage-";
pub(crate) const TREES: &str = "trees-";

/// Raised when what a run measures changes, so that older results are not believed.
const FORM: u32 = 7;

/// The use of a verified tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// Its difference to the base is committed to a branch; `None` is the one that is checked out. The tree of that commit
    /// is verified: uncommitted files of a person are not in it.
    Commit(Option<String>),
    /// It stays in the workspace. The tree itself is verified.
    Workspace,
}

/// The question to a room: a tree, its commands and the change.
#[derive(Clone, Debug)]
pub struct Question {
    /// The command lines of the check, in their order.
    pub lines: Vec<String>,
    /// The tree that the change began with.
    pub base: String,
    /// The tree to verify.
    pub tree: String,
    /// The use of the tree.
    pub becomes: Becomes,
    /// The longest time of one command.
    pub timeout: Duration,
    /// Objections that a person has accepted.
    pub accepted: Vec<String>,
}

/// A room for one attempt.
pub struct Room<'a> {
    /// The attempt that asks.
    pub attempt: &'a Attempt,
    /// The store of the trees.
    pub workspace: &'a Workspace,
    /// The confinement of programs.
    pub sandbox: &'a Sandbox,
    /// The rules for a program in the workspace.
    pub rules: Rules,
}

/// The state of one verification.
struct Visit<'a, 'q> {
    room: &'a Room<'a>,
    question: &'q Question,
    ground: Ground,
    trees: Trees,
    settings: Settings,
    /// Who uses which source of the base tree; empty until a green check is examined.
    uses: Arc<Uses>,
    /// The changed files that are checks or hold some.
    checks: Vec<tree::Changed>,
    /// The hash of the dependencies, part of the key of stored results.
    dependencies: String,
    objections: Vec<String>,
    warnings: Vec<Warning>,
    notes: Vec<String>,
    evidence: Vec<Evidence>,
    facts: Json,
    /// Only one verification at a time uses the room's build directories.
    _key: std::fs::File,
}

/// Remembers the dependencies of a workspace for a run, before the first turn of an agent. Later calls change nothing. May
/// block on the file system.
pub fn remember_dependencies(
    workspace: &Workspace,
    store: Option<&Path>,
    folder: &Path,
    run: &str,
) -> Result<(), String> {
    let root = workspace.root(folder).map_err(|error| error.to_string())?;
    let home = home_of(store, &root).map_err(|error| error.to_string())?;
    // Files that the settings name are compared from the first verification on; the usual names from here on.
    let found = dependency_folders(&root);
    let (now, _) = dependencies::inventory(&root, &found);
    let others = dependencies::others(&root, &found);
    dependencies::remembered(&inventory_file(&home, run), &now)
        .and_then(|_| dependencies::remembered(&others_file(&home, run), &others))
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Gives a run that shares the records of another one the lists of that run: they are from before the first turn.
#[expect(clippy::disallowed_methods, reason = "the lists are in the store")]
pub fn share_dependencies(
    workspace: &Workspace,
    store: Option<&Path>,
    folder: &Path,
    (from, run): (&str, &str),
) -> Result<(), String> {
    let root = workspace.root(folder).map_err(|error| error.to_string())?;
    let home = home_of(store, &root).map_err(|error| error.to_string())?;
    for file in [inventory_file, others_file] {
        match std::fs::copy(file(&home, from), file(&home, run)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.to_string()),
            _ => {}
        }
    }
    Ok(())
}

/// The list of the files of a workspace that are no dependencies.
fn others_file(home: &Path, run: &str) -> PathBuf {
    inventory_file(home, run).with_extension("others")
}

/// Returns the directories of a checkout in which package managers keep dependencies, below its root. Some may be tracked.
/// May block on the file system.
pub fn dependency_folders(root: &Path) -> Vec<PathBuf> {
    dependencies::find(root, &[], |path| !dependencies::is_usual(path))
}

fn inventory_file(home: &Path, run: &str) -> PathBuf {
    let name = crate::hex(&Sha256::digest(run.as_bytes()));
    home.join("inventories").join(&name[..32])
}

/// Returns the directory of a workspace's room, and makes it.
#[expect(clippy::disallowed_methods, reason = "no program can change the directory of the rooms")]
fn home_of(store: Option<&Path>, root: &Path) -> std::io::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let name = crate::hex(&Sha256::digest(root.as_os_str().as_bytes()));
    let home = match store {
        Some(store) => store.join("rooms").join(&name[..16]),
        None => std::env::temp_dir().join(format!("interlock-room-{}", &name[..16])),
    };
    std::fs::create_dir_all(&home)?;
    home.canonicalize()
}

/// Waits until no other verification is in the room, and removes the places that one left which was killed.
#[expect(clippy::disallowed_methods, reason = "the lock is in the store")]
fn lock(home: &Path) -> std::io::Result<std::fs::File> {
    let key = std::fs::File::create(home.join("lock"))?;
    key.lock()?;
    for left in std::fs::read_dir(home)?.flatten() {
        let name = left.file_name();
        if [PLACE, TREES].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            Folder::open(home)?.remove_all(Path::new(&name))?;
        }
    }
    Ok(key)
}

/// Removes the rooms of a store that nobody has entered for this long, with their build results, and returns their number.
/// The next verification makes a room again.
pub fn remove_old_rooms(store: &Path, unused_for: Duration, is_dry: bool) -> std::io::Result<u64> {
    let Ok(rooms) = std::fs::read_dir(store.join("rooms")) else { return Ok(0) };
    let folder = Folder::open_through_links(&store.join("rooms"))?;
    let mut count = 0;
    for room in rooms.flatten() {
        let used = room.metadata().and_then(|about| about.modified());
        if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age >= unused_for)) {
            count += 1;
            if !is_dry {
                folder.remove_all(Path::new(&room.file_name()))?;
            }
        }
    }
    Ok(count)
}

impl Room<'_> {
    /// Verifies a change. Returns an outcome as the error if the attempt was stopped or the place could not be made.
    pub async fn verify(&self, question: &Question) -> Result<Verdict, Outcome> {
        let mut visit = self.enter(question).await?;
        let (measured, runs) = visit.decide().await?;
        visit.facts["deciding"] = measured.to_json();
        if measured.is_green() {
            visit.examine(&measured).await?;
        }
        visit.leave(runs)
    }

    /// Runs the check on the base tree, as [`Room::verify`] will compare with, and returns the cause if a program is missing.
    pub async fn missing_program(&self, question: &Question) -> Result<Option<String>, Outcome> {
        let mut visit = self.enter(question).await?;
        let base = match visit.settings.base {
            true => visit.base().await?,
            false => return Ok(None),
        };
        Ok(base.fault.filter(|cause| is_missing_program(cause)))
    }

    async fn enter<'q>(&self, question: &'q Question) -> Result<Visit<'_, 'q>, Outcome> {
        let broken =
            |error: String| Outcome::error(code::FAILED, format!("the place for the check could not be made: {error}"));
        let folder = self.attempt.folder.clone();
        let root = self.workspace.root(&folder).map_err(|error| broken(error.to_string()))?;
        let root = root.canonicalize().map_err(|error| broken(error.to_string()))?;
        let inner = folder.canonicalize().ok().and_then(|folder| Some(folder.strip_prefix(&root).ok()?.to_owned()));
        let home = home_of(self.sandbox.store.as_deref(), &root).map_err(|error| broken(error.to_string()))?;
        let (workspace, asked, place) = (self.workspace.clone(), question.clone(), home.clone());
        let run = self.attempt.run.clone();
        let entered = tokio::task::spawn_blocking(move || {
            let key = lock(&place).map_err(|error| error.to_string())?;
            let wanted = (&*asked.base, &*asked.tree, &asked.becomes);
            Trees::export(&workspace, (&folder, &run), wanted, &place).map(|trees| (key, trees))
        });
        let (key, trees) = entered.await.map_err(|error| broken(error.to_string()))?.map_err(broken)?;
        let settings = Settings::read(&trees.base).map_err(|why| Outcome::error(code::BAD_INPUT, why))?;
        let found = dependencies::find(&root, &settings.dependencies, |path| trees.has(path));
        let (inventory, unlisted) = dependencies::inventory(&root, &found);
        let launcher = self.sandbox.launcher.clone();
        let is_at_own_path = Ground::can_show(&self.rules, || {
            static HAS: OnceLock<bool> = OnceLock::new();
            *HAS.get_or_init(|| interlock_sandbox::ability(&launcher).namespaces)
        });
        let ground = Ground {
            root,
            folder: inner.unwrap_or_default(),
            builds: home.join("builds").join(&trees.hashes[0][..32]),
            home: home.clone(),
            dependencies: found,
            unlisted,
            rules: self.rules.clone(),
            is_at_own_path,
            repository: OnceLock::new(),
        };
        ground.forget_other_builds().map_err(|error| broken(error.to_string()))?;
        let checks = trees.with_part(&old::CHECKS).cloned().collect();
        let mut visit = Visit {
            room: self,
            question,
            ground,
            trees,
            settings,
            uses: Arc::default(),
            checks,
            dependencies: hash_of(&inventory),
            objections: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            evidence: Vec::new(),
            _key: key,
            facts: json!({ "tree": question.tree, "base": question.base, "commands": question.lines }),
        };
        visit.look_at_dependencies(&inventory).map_err(|error| broken(error.to_string()))?;
        visit.look_at_place();
        Ok(visit)
    }
}

impl Visit<'_, '_> {
    /// Objects to dependencies that are not those that the run began with.
    fn look_at_dependencies(&mut self, now: &Inventory) -> std::io::Result<()> {
        let before = dependencies::known(&inventory_file(&self.ground.home, &self.room.attempt.run))?;
        if before.is_none() && !now.is_empty() {
            let text = "nobody has listed the dependencies before the change, so it is unknown if they are the same";
            self.warnings.push(Warning { code: "dependencies_unknown", text: text.to_owned() });
        }
        let before = before.unwrap_or_else(|| now.clone());
        // A directory that is part of the tree is compared as such.
        let is_tracked = |name: &String| {
            names::path(name).ancestors().any(|path| dependencies::is_usual(path) && self.trees.has(path))
        };
        let mut changed = dependencies::changed(&before, now);
        changed.retain(|name| !is_tracked(name));
        self.facts["dependencies_changed"] = json!(changed);
        let others = dependencies::others(&self.ground.root, &self.ground.dependencies);
        if others.len() >= dependencies::OTHERS_MAX {
            let max = dependencies::OTHERS_MAX;
            self.notes.push(format!(
                "the workspace has more files than the {max} that are compared with those before the run"
            ));
        }
        let before = dependencies::remembered(&others_file(&self.ground.home, &self.room.attempt.run), &others)?;
        let mut left_out = dependencies::changed(&before, &others);
        left_out.retain(|name| !self.trees.has(&names::path(name)));
        self.facts["left_out"] = json!(left_out);
        if !left_out.is_empty() {
            self.notes.push(format!("changed during the run and not in the verified tree: {}", listed(&left_out)));
        }
        if !changed.is_empty() {
            let names = listed(&changed);
            self.object(
                format!("dependencies changed since the run began, which no diff shows: {names}"),
                &hash_of(now),
            );
        }
        Ok(())
    }

    fn look_at_place(&mut self) {
        if let Some(problem) = &self.trees.problem {
            // A person cannot accept this objection: the commit would fail.
            let names = self.trees.changed.iter().map(|changed| changed.path.clone());
            let names: Vec<String> = names.filter(|path| problem.contains(path.as_str())).collect();
            let which = if names.is_empty() { "your uncommitted changes".to_owned() } else { listed(&names) };
            self.objections.push(format!("{UNCOMMITTABLE}: {problem}. Commit or stash {which}, then go on"));
        }
        if let Some(Moved { reference, before, after }) = self.trees.foreign.clone() {
            let name = reference.strip_prefix("refs/heads/").unwrap_or(&reference);
            let before = before.unwrap_or_else(|| "no commit".to_owned());
            let text =
                format!("{FOREIGN} {name} from {before} to {after}, and the change would be committed on top of that");
            self.object(text, &after);
        }
        if self.trees.changed.is_empty() {
            let text = "there is no change to verify: the tree is the one from before".to_owned();
            self.warnings.push(Warning { code: "no_change", text });
        }
        let outside: Vec<String> = self.trees.links_outside().collect();
        if !outside.is_empty() {
            let (names, hash) = (listed(&outside), Trees::hash(self.trees.changed.iter()));
            self.object(format!("these links lead out of the committed tree: {names}"), &hash);
        }
        self.facts["own_path"] = json!(self.ground.is_at_own_path);
        self.facts["old_checks_off"] = json!(!self.settings.old_checks);
        if !self.ground.is_at_own_path {
            let text = "the clean copy stood at another path than the checkout, because there are no namespaces here";
            self.warnings.push(Warning { code: "not_clean", text: text.to_owned() });
        }
        let off = self.settings.switched_off();
        if !off.is_empty() {
            let text = format!("the project's {} switches off: {}", settings::FILE, off.join(", "));
            self.warnings.push(Warning { code: "switched_off", text });
        }
    }

    /// Adds an objection, unless a person has accepted it for this very content.
    fn object(&mut self, text: String, hash: &str) {
        let text = format!("{text} (now {})", &hash[..hash.len().min(40)]);
        match self.question.accepted.contains(&text) {
            true => self.notes.push(format!("a person accepted: {text}")),
            false => self.objections.push(text),
        }
    }

    /// Runs the check on the new tree. Its result decides, and it is never taken from an earlier run.
    async fn decide(&mut self) -> Result<(Measured, Vec<CommandRun>), Outcome> {
        let stage = self.stage(&self.trees.new, Build::Discarded, |_| Ok(()))?;
        let (measured, runs) = self.measure(&stage, &self.trees.new).await?;
        let failed = measured.census.failed();
        if measured.is_green() && failed > 0 {
            let text = format!("the exit code is 0, but the output reports failed tests: {failed}");
            self.object(text, &self.question.tree.clone());
        }
        let rewritten = self.trees.rewritten(&stage.copy);
        if !rewritten.is_empty() {
            let hash = Trees::hash(self.trees.changed.iter());
            self.object(
                format!("the check rewrites its own tests or settings while it runs: {}", listed(&rewritten)),
                &hash,
            );
        }
        Ok((measured, runs))
    }

    /// Objects to sources that look at the runner of their own tests, or change code that is not the project's: they can
    /// behave differently there, or change its verdict.
    fn look_at_sources(&mut self) {
        let sources: Vec<tree::Changed> = self.trees.with_part(&[Part::Source]).cloned().collect();
        let all: Vec<&tree::Changed> = sources.iter().collect();
        let hash = Trees::hash(self.trees.sources().map(|(changed, _)| changed));
        let found = surroundings::new_words_of_runners(&all);
        if !found.is_empty() {
            let names = listed(&found);
            self.object(format!("the change makes sources look at the runner of their tests: {names}"), &hash);
        }
        let found = self.new_patches(&all);
        if !found.is_empty() {
            let names = listed(&found);
            self.object(
                format!("the change makes sources replace parts of code that is not the project's: {names}"),
                &hash,
            );
        }
        let found = surroundings::new_words_of_surroundings(&all);
        if !found.is_empty() {
            let text = format!(
                "the change looks at the place or the time of its run, and may behave differently elsewhere: {}",
                listed(&found)
            );
            self.warnings.push(Warning { code: "surroundings", text });
        }
    }

    /// The assignments to what comes from outside of the project that changed sources did not have before.
    fn new_patches(&self, sources: &[&tree::Changed]) -> Vec<String> {
        let (before, now) = (tree::list(&self.trees.base), tree::list(&self.trees.new));
        let is_named = |file: &str, name: &str| file.split('/').any(|part| part.split('.').next() == Some(name));
        let is_own = |module: &str| {
            let first = module.split(['.', '/', ':']).next().unwrap_or_default();
            // A new file is a module only if it is a source: any name can be that of a directory.
            let is_source = |file: &&String| {
                kinds::part(file, b"") == Part::Source
                    && file.rsplit('/').next().is_some_and(|name| is_named(name, first))
            };
            module.starts_with('.')
                || !first.is_empty()
                    && (before.iter().any(|file| is_named(file, first)) || now.iter().any(|file| is_source(&file)))
        };
        let found = sources.iter().flat_map(|one| {
            let before = patches(&one.spoken, &one.text_before());
            let after =
                patches(&one.spoken, &one.text_after()).into_iter().filter(move |patch| !before.contains(patch));
            after
                .filter(|patch| !is_own(&patch.module))
                .map(|patch| format!("`{}` in {}", patch.target, one.path))
                .collect::<Vec<_>>()
        });
        found.collect()
    }

    /// Names changed files that the check reads and that nobody can read as a text. Data of tests takes part in the old
    /// checks.
    fn look_at_binaries(&mut self, now: &Measured) {
        let is_read = |one: &&tree::Changed| one.part != Part::Test && one.is_binary() && now.has_read(&one.path);
        let found: Vec<String> = self.trees.changed.iter().filter(is_read).map(|one| one.path.clone()).collect();
        if !found.is_empty() {
            let text =
                format!("the check reads files of this change that are no text, and may hold code: {}", listed(&found));
            self.warnings.push(Warning { code: "checks_changed", text });
        }
    }

    /// Examines a green check.
    async fn examine(&mut self, now: &Measured) -> Result<(), Outcome> {
        self.uses = Arc::new(Uses::of(&self.trees.base, &self.question.lines));
        self.look_at_sources();
        self.look_at_binaries(now);
        let base = match self.settings.base {
            true => Some(self.base().await?),
            false => None,
        };
        let old = match self.settings.old_checks {
            true => self.old_checks(base.as_ref(), now).await?,
            false => None,
        };
        self.compare(base.as_ref(), now, old.as_ref());
        self.look_at_names(base.as_ref());
        self.look_at_redefinitions(base.as_ref());
        self.look_at_definitions(base.as_ref(), now);
        if self.settings.able_to_fail {
            self.probe(base.as_ref(), now).await?;
            self.look_at_expectations(base.as_ref(), now).await?;
        }
        Ok(())
    }

    /// Measures the check on the base tree; a result for the same tree, commands and dependencies is used again.
    async fn base(&mut self) -> Result<Measured, Outcome> {
        self.say("the check runs on the tree that the run began with");
        let measured =
            self.remembered("base", &[&self.question.base], &self.trees.base.clone(), Build::Kept, |_| Ok(())).await?;
        self.facts["before"] = measured.to_json();
        self.notes.push(match (measured.is_green(), measured.census.is_readable()) {
            (true, true) => format!("{} cases passed before the change", measured.census.passed()),
            (true, false) => "the check passed before the change".to_owned(),
            (false, _) => format!("before the change the check failed: {}", measured.summary),
        });
        Ok(measured)
    }

    /// Returns the stored result of an auxiliary run, or makes the run. `key` names everything that the copy depends on
    /// besides the commands and the dependencies.
    #[expect(clippy::disallowed_methods, reason = "the results are in the store")]
    async fn remembered(
        &mut self,
        name: &str,
        key: &[&str],
        tree: &Path,
        build: Build,
        change: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> Result<Measured, Outcome> {
        // The trees of a commit are not those of the question.
        let trees = if tree == self.trees.base { &self.trees.hashes[..1] } else { &self.trees.hashes[..] };
        let asked = (&self.question.lines, &self.ground.folder, self.question.timeout.as_millis());
        let all = json!([FORM, name, key, trees, asked, self.dependencies, self.ground.is_at_own_path]);
        let file = self.ground.home.join("measured").join(crate::hex(&Sha256::digest(all.to_string().as_bytes())));
        if let Some(known) = std::fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
            return Ok(known);
        }
        let stage = self.stage(tree, build, change)?;
        let (measured, runs) = self.measure(&stage, tree).await?;
        // The output of a copy that differs from the tree, such as a broken one, is not the output of the check.
        let kept = runs.into_iter().flat_map(|run| run.evidence).map(|file| match file.name.as_str() {
            "stdout" | "stderr" => Evidence { name: format!("{name}.{}", file.name), ..file },
            _ => file,
        });
        self.evidence.extend(kept);
        // A fault of the environment says nothing about the next time.
        if measured.fault.is_some() || measured.exit_code == TIMED_OUT {
            return Ok(measured);
        }
        // A missing file only costs time.
        let _ = file.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(&file, serde_json::to_vec(&measured).unwrap_or_default());
        Ok(measured)
    }

    fn stage(
        &self,
        tree: &Path,
        build: Build,
        change: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> Result<Stage, Outcome> {
        let made = self.ground.stage(tree, build, change);
        made.map_err(|error| {
            Outcome::error(code::FAILED, format!("the place for the check could not be made: {error}"))
        })
    }

    /// Runs all commands in a place with a copy of a tree until one fails.
    async fn measure(&self, stage: &Stage, tree: &Path) -> Result<(Measured, Vec<CommandRun>), Outcome> {
        let (room, timeout, mut runs) = (self.room, self.question.timeout, Vec::new());
        for line in &self.question.lines {
            let place = (stage.rules.clone(), &*stage.folder, &ENVIRONMENT[..]);
            let run = run_in(room.attempt, room.sandbox, place, line, timeout).await?;
            let is_bad = run.exit_code != 0;
            runs.push(run);
            if is_bad {
                break;
            }
        }
        let bad = runs.iter().find(|run| run.exit_code != 0);
        let text: String = runs.iter().map(|run| run.log.text.as_str()).collect();
        let measured = Measured {
            exit_code: bad.map_or(0, |run| run.exit_code),
            took_ms: runs.iter().map(|run| run.took_ms).sum(),
            census: interlock_test_results::Census::of(&text),
            lines: verdict::lines(&text),
            missing: match bad {
                Some(_) => shadow::missing_in(&text),
                None => std::collections::BTreeSet::new(),
            },
            summary: bad.map(|run| run.log.summary()).unwrap_or_default(),
            fault: bad.and_then(|run| environment_fault(run.exit_code, &run.log)),
            read: stage.watch.as_ref().and_then(|watch| watch.read(tree, &stage.copy)),
        };
        Ok((measured, runs))
    }

    fn say(&self, text: &str) {
        self.room.attempt.host.progress(&self.room.attempt.run, self.room.attempt.activity, text);
    }

    /// Stores the facts and returns the verdict.
    fn leave(mut self, runs: Vec<CommandRun>) -> Result<Verdict, Outcome> {
        if !self.objections.is_empty() {
            let (attempt, diff) = (self.room.attempt, self.difference_of_checks());
            let diff = attempt.evidence.redactor().text(&diff);
            let kept = attempt.evidence.put(EVIDENCE, "text/x-diff", diff.as_bytes());
            self.evidence
                .push(kept.map_err(|error| Outcome::not_stored(format!("the diff could not be kept: {error}")))?);
        }
        self.facts["objections"] = json!(self.objections);
        self.facts["warnings"] = json!(self.warnings);
        self.facts["notes"] = json!(self.notes);
        let shown = verdict::shown(&self.facts);
        self.facts["shown"] = json!(shown);
        let text = serde_json::to_vec_pretty(&self.facts).unwrap_or_default();
        let kept = self.room.attempt.evidence.put("verification", "application/json", &text);
        self.evidence.push(kept.map_err(|error| Outcome::not_stored(format!("the facts could not be kept: {error}")))?);
        let evidence = runs.iter().flat_map(|run| run.evidence.iter().cloned()).chain(self.evidence).collect();
        Ok(Verdict { runs, objections: self.objections, warnings: self.warnings, notes: self.notes, shown, evidence })
    }
}

fn hash_of(value: &impl serde::Serialize) -> String {
    crate::hex(&Sha256::digest(serde_json::to_vec(value).unwrap_or_default()))
}

/// Lists a few names, and counts the rest.
fn listed(listed: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = listed.iter().take(SHOWN).map(|name| names::shown(name)).collect::<Vec<_>>().join(", ");
    match listed.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

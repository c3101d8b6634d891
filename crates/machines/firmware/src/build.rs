//! `build.prepare`, `build.run` and `build.clean`: builds a tree in the run's copy.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use interlock_activity::{Arguments, Attempt, Outcome};
use interlock_chart::Value;
use interlock_journal::Evidence;
use interlock_process::{self as program, How, Plan, Tell};
use serde::Deserialize;
use serde_json::json;

use crate::{
    area::Area,
    bench::milliseconds,
    copy,
    listed::files,
    packages::to_install,
    table::{Done, Settings, blocking, failed, given, keep, refs, signal},
};

/// The number of bytes kept of a build's output.
const OUTPUT_BYTES: u64 = 16 * 1024 * 1024;

/// The largest image that is kept.
pub(crate) const IMAGE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The phrases of linker errors, which lack the word `error`.
const LINKER_SAYS: [&str; 5] =
    ["undefined reference", "multiple definition", "ld: cannot find", "overflowed by", "will not fit in region"];

/// The build instructions of a task.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Build {
    /// The shell commands, run in order in the repository's directory.
    #[serde(default)]
    pub(crate) commands: Vec<String>,
    /// The command that removes build products; if it is empty, the copy is created again.
    #[serde(default)]
    pub(crate) clean: String,
    /// The path of the built image, relative to the repository's directory. Empty if no image is built, as with
    /// scripts.
    #[serde(default)]
    pub(crate) image: String,
    /// The programs that must be installed.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// The environment variables of the commands.
    #[serde(default)]
    pub(crate) environment_vars: BTreeMap<String, String>,
    /// The time limit of one command.
    #[serde(default = "timeout")]
    pub(crate) timeout_sec: u64,
}

fn timeout() -> u64 {
    900
}

#[derive(Deserialize)]
pub(crate) struct With {
    #[serde(default)]
    pub(crate) tree: String,
    #[serde(default)]
    pub(crate) build: Build,
    #[serde(default)]
    pub(crate) repo: String,
}

/// Selects whether the output of a build becomes evidence. The output of a search candidate does not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    All,
    Nothing,
}

/// The result of a build.
pub(crate) struct Built {
    /// The evidence hash of the image if the build succeeded, otherwise the error.
    pub(crate) image: Result<String, String>,
    /// True if the build itself caused the result. False if it was stopped or killed, so that another run may end
    /// differently.
    pub(crate) is_certain: bool,
    /// The build output and the image.
    pub(crate) evidence: Vec<Evidence>,
    /// The total run time of the commands.
    pub(crate) programs: Duration,
}

/// Checks that all programs that a build needs are installed.
pub(crate) async fn prepare(_: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    if let Some(package) = missing(&with.build) {
        return Ok(signal("toolchain_missing", json!({ "package": package })));
    }
    Ok(signal("build_env_ready", json!({})))
}

/// Returns the package of the first missing program.
pub(crate) fn missing(build: &Build) -> Option<String> {
    build.needs.iter().find(|name| !is_installed(build, name)).map(|name| to_install(name))
}

/// Reports whether a build finds a program.
pub(crate) fn is_installed(build: &Build, name: &str) -> bool {
    program::find(name, Path::new("/"), &build.environment_vars).is_ok()
}

/// Builds a tree and reports the image.
pub(crate) async fn run(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    copy::bring(&settings, &attempt, &with.tree).await?;
    let folder = folder_in(&settings, &attempt, &with.repo, Area::of(&settings, &attempt)?.copy()).await?;
    let built = build(&settings, &attempt, &with.build, &folder, Keeping::All).await?;
    let (refs, spent) = (refs(&built.evidence), milliseconds(built.programs));
    let outcome = match built.image {
        Ok(artifact) => signal("build_ok", json!({ "artifact": artifact, "programs_ms": spent })),
        Err(summary) => {
            signal("build_failed", json!({ "summary": summary, "evidence_refs": refs, "programs_ms": spent }))
        }
    };
    Ok(outcome.with(built.evidence))
}

/// Removes the products of earlier builds.
pub(crate) async fn clean(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    let copy = Area::of(&settings, &attempt)?.copy();
    let mut evidence = Vec::new();
    if with.build.clean.is_empty() || !copy.exists() {
        blocking(move || interlock_beneath::whole::remove_all(&copy).map_err(failed)).await?;
    } else {
        let folder = folder_in(&settings, &attempt, &with.repo, copy).await?;
        evidence = command(&settings, &attempt, &with.build, &with.build.clean, &folder, Keeping::All).await?.evidence;
    }
    Ok(signal("build_cleaned", json!({})).with(evidence))
}

/// Returns the repository's directory within a copy: a run may work on a subdirectory of its workspace.
pub(crate) async fn folder_in(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    repo: &str,
    copy: PathBuf,
) -> Result<PathBuf, Outcome> {
    let (settings, folder, repo) = (Arc::clone(settings), attempt.folder.clone(), repo.to_owned());
    blocking(move || {
        let root = settings.workspace.root(&folder).map_err(failed)?;
        let repo = folder.join(repo).canonicalize().map_err(failed)?;
        let within = repo.strip_prefix(&root).map_err(|_| failed("`repo_path` is not in the run's workspace"))?;
        Ok(copy.join(within))
    })
    .await
}

/// Builds the content of a directory.
pub(crate) async fn build(
    settings: &Settings,
    attempt: &Attempt,
    build: &Build,
    folder: &Path,
    keeping: Keeping,
) -> Result<Built, Outcome> {
    let mut built =
        Built { image: Ok(String::new()), is_certain: true, evidence: Vec::new(), programs: Duration::ZERO };
    for line in &build.commands {
        let ran = command(settings, attempt, build, line, folder, keeping).await?;
        built.evidence.extend(ran.evidence);
        built.programs += ran.spent;
        if let Some(wrong) = ran.wrong {
            (built.image, built.is_certain) = (Err(wrong), ran.is_certain);
            return Ok(built);
        }
    }
    if build.image.is_empty() || keeping == Keeping::Nothing {
        return Ok(built);
    }
    let (place, wanted) = (folder.to_owned(), build.image.clone());
    let path = wanted.clone();
    match blocking(move || Ok(image(&place, &path))).await? {
        Ok(content) => {
            let kept = keep(attempt, "image", "application/octet-stream", content).await?;
            built.image = Ok(kept.hash.to_string());
            built.evidence.push(kept);
        }
        Err(error) if error.is_not_found() => {
            built.image = Err(format!("its commands succeeded but did not create {wanted}{}", made(folder, &wanted)));
        }
        Err(error) => built.image = Err(format!("`{wanted}` cannot be read: {error}")),
    }
    Ok(built)
}

/// Reads the image that a build made. It may be a link, but must not point out of the copy, because kept files are
/// shown to others.
fn image(folder: &Path, path: &str) -> Result<Vec<u8>, interlock_beneath::Error> {
    let real = folder.canonicalize().and_then(|root| Ok((folder.join(path).canonicalize()?, root)));
    let within = real.as_ref().ok().and_then(|(image, root)| image.strip_prefix(root).ok());
    interlock_beneath::read(folder, within.unwrap_or(Path::new(path)), IMAGE_BYTES_MAX)
}

/// Copies the image that a build made to a place outside of the copy.
pub(crate) fn copy_image(folder: &Path, path: &str, to: &Path) -> Result<(), interlock_beneath::Error> {
    interlock_beneath::whole::write(to, image(folder, path)?)
}

/// Lists files of the same kind that a build may have made instead of the missing image.
fn made(folder: &Path, wanted: &str) -> String {
    const MADE_DEPTH_MAX: usize = 64;
    let ending = Path::new(wanted).extension();
    let is_alike = |path: &PathBuf| ending.is_some() && path.extension() == ending;
    let found = files(folder, folder, MADE_DEPTH_MAX).into_iter().filter(is_alike).take(3);
    let names: Vec<String> = found.map(|path| format!("`{}`", path.display())).collect();
    if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) }
}

/// The result of one command.
struct Command {
    /// The error if the command did not succeed.
    wrong: Option<String>,
    /// True if the command ended by itself, not by a signal or a limit.
    is_certain: bool,
    /// The stored output of the command.
    evidence: Vec<Evidence>,
    spent: Duration,
}

/// Runs one build command in the sandbox.
async fn command(
    settings: &Settings,
    attempt: &Attempt,
    build: &Build,
    line: &str,
    folder: &Path,
    keeping: Keeping,
) -> Result<Command, Outcome> {
    let within = Attempt { folder: folder.to_owned(), ..attempt.clone() };
    let nothing = Value::map(Vec::<(&str, Value)>::new());
    let rules = settings.sandbox.rules(&Arguments::new(&nothing, &[])?, &within)?;
    let plan = Plan {
        words: ["/bin/sh", "-c", line].map(Into::into).to_vec(),
        folder: folder.to_owned(),
        env: build.environment_vars.clone(),
        stdin: Vec::new(),
        timeout: Some(Duration::from_secs(build.timeout_sec)),
        output_bytes_max: OUTPUT_BYTES,
        // During a search, its progress is more useful than the output of its compilers.
        tell: if keeping == Keeping::All { [Tell::NowAndThen; 2] } else { [Tell::Nothing; 2] },
        rules,
        launcher: settings.sandbox.launcher.clone(),
    };
    let mut ended = program::run(&within, &plan).await?;
    let wrong = match &ended.how {
        How::Exited { code: 0, .. } => None,
        How::Exited { code, .. } => {
            let said = ended.stderr.content().unwrap_or_default();
            Some(first_error(&String::from_utf8_lossy(&said)).unwrap_or_else(|| format!("`{line}` ended with {code}")))
        }
        How::TimedOut => Some(format!("`{line}` took longer than {} seconds", build.timeout_sec)),
        How::Limited(why) => Some(format!("`{line}` was stopped: {why}")),
        How::Cancelled => return Err(Outcome::cancelled("it was cancelled")),
    };
    let (spent, is_certain) = (ended.duration, matches!(ended.how, How::Exited { signal: None, .. }));
    let evidence = match keeping {
        Keeping::All => program::keep(&within, vec![ended.stdout, ended.stderr], ended.confined).await?,
        Keeping::Nothing => Vec::new(),
    };
    Ok(Command { wrong, is_certain, evidence, spent })
}

/// Returns the first line of a program's version output; `None` if the program cannot be run.
pub(crate) async fn version(settings: &Settings, attempt: &Attempt, program: &str, folder: &Path) -> Option<String> {
    const ASKED_MAX: Duration = Duration::from_secs(10);
    let file = program::find(program, folder, &BTreeMap::new()).ok()?;
    let within = Attempt { folder: folder.to_owned(), ..attempt.clone() };
    let nothing = Value::map(Vec::<(&str, Value)>::new());
    let plan = Plan {
        words: vec![file.into(), "--version".into()],
        folder: folder.to_owned(),
        env: BTreeMap::new(),
        stdin: Vec::new(),
        timeout: Some(ASKED_MAX),
        output_bytes_max: 64 * 1024,
        tell: [Tell::Nothing; 2],
        rules: settings.sandbox.rules(&Arguments::new(&nothing, &[]).ok()?, &within).ok()?,
        launcher: settings.sandbox.launcher.clone(),
    };
    let mut ended = program::run(&within, &plan).await.ok()?;
    let said = ended.stdout.content().ok()?;
    let line = String::from_utf8_lossy(&said).lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    line.map(|line| line.chars().take(160).collect())
}

/// The phrases that mark an error line of a compiler, of a shell, or of a `make` that cannot start a program.
const SAYS_WHY: [&str; 5] = ["error:", "fatal", "not found", "No such file or directory", "Error "];

/// Returns the first error line: later ones are often only consequences of it.
fn first_error(text: &str) -> Option<String> {
    // `collect2` only reports that the linker failed; the linker's message stands before it.
    let says = |line: &&str| {
        let is_said = LINKER_SAYS.iter().any(|word| line.contains(word));
        is_said || !line.starts_with("collect2:") && SAYS_WHY.iter().any(|word| line.contains(word))
    };
    let found = text.lines().find(says).or_else(|| text.lines().rev().find(|line| !line.trim().is_empty()));
    found.map(|line| line.trim().chars().take(240).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use std::fs;

    use super::*;
    use crate::packages::package_of;

    #[test]
    fn first_error_line_is_reported() {
        let text =
            "a.c: In function 'f':\na.c:3:1: error: expected ';'\na.c:9:1: error: another\nmake: *** [x] Error 1\n";
        assert_eq!(first_error(text).as_deref(), Some("a.c:3:1: error: expected ';'"));
        for said in ["ld: b.o: multiple definition of `f'; a.o: first defined here", "/opt/bin/ld: cannot find -lm7"] {
            let text =
                format!("cc -o x a.o b.o\n{said}\ncollect2: error: ld returned 1 exit status\nmake: *** [x] Error 1\n");
            assert_eq!(first_error(&text).as_deref(), Some(said));
        }
        let text = "cc -c a.c\nmake: no-cc: No such file or directory\nmake: *** [a.mk:23: a.o] Error 127\n";
        assert_eq!(first_error(text).as_deref(), Some("make: no-cc: No such file or directory"));
        assert_eq!(first_error("only talk\n\n").as_deref(), Some("only talk"));
        assert_eq!(first_error(""), None);
    }

    #[test]
    fn missing_image_error_names_files_of_the_same_kind() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("build")).unwrap();
        for name in ["build/fw.elf", "build/fw.o", "boot.elf"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(made(folder.path(), "build/firmware.elf"), "; there is `boot.elf`, `build/fw.elf`");
        assert_eq!(made(folder.path(), "build/fw.bin"), "");
        assert_eq!(made(folder.path(), "fw"), "");
    }

    #[test]
    fn missing_program_is_reported_by_its_package() {
        let build =
            |needs: &[&str]| Build { needs: needs.iter().map(ToString::to_string).collect(), ..Build::default() };
        assert_eq!(missing(&build(&["sh"])), None);
        let said = "the package no-such-program-7 (for the program no-such-program-7)";
        assert_eq!(missing(&build(&["sh", "no-such-program-7"])).as_deref(), Some(said));
        let said = "the package qemu-system-misc (for the program qemu-system-riscv32)";
        assert_eq!(to_install("qemu-system-riscv32"), said);
        assert_eq!(package_of("qemu-system-aarch64"), "qemu-system-arm");
        assert_eq!(package_of("qemu-system-x86_64"), "qemu-system-x86");
        assert_eq!(package_of("qemu-system-mipsel"), "qemu-system-mips");
    }
}

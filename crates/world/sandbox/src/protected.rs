//! Lists files in a workspace that decide what runs outside the sandbox: the project's rules for Interlock, git's
//! settings and hooks, the files that tell a server what to run on every push, and the files from which a person's editor,
//! shell, agent or tool takes commands when it is opened, entered or started there.
//!
//! A program may write to its workspace. If it could write these files, its content would be run outside: by the next
//! `git commit`, the next run or the next build on a server. So they stay unchanged, unless the machine names the exact
//! path under `write`, which is a matter of policy.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use interlock_beneath::Folder;

use crate::{Rules, credentials, git_settings, guard::Refusal, repository};

/// The directory with a project's policy, judges, risks and machines.
const PROJECT: &str = ".interlock";

/// The protected parts of that directory, if the store is in it.
const PROJECT_PARTS: [&str; 4] = ["policy.toml", "risk.toml", "judges.toml", "machines"];

/// Paths at the top of a workspace that tell git or a server what to run.
const AT_TOP: [&str; 27] = [
    ".gitmodules",
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".gitlab/ci",
    ".circleci",
    ".buildkite",
    ".forgejo/workflows",
    ".gitea/workflows",
    ".woodpecker",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    ".drone.yml",
    ".travis.yml",
    ".cirrus.yml",
    ".appveyor.yml",
    "appveyor.yml",
    "azure-pipelines.yml",
    ".azure-pipelines",
    "bitbucket-pipelines.yml",
    "Jenkinsfile",
    ".semaphore",
    ".teamcity",
    ".tekton",
    ".builds",
    ".build.yml",
    "cloudbuild.yaml",
];

/// Paths in a folder from which a program takes commands as soon as a person opens the folder, enters it, starts the
/// program there or commits. Files that only say how to build or test are not here: agents change them every day.
const IN_FOLDERS: [&str; 114] = [
    // Editors.
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".idea",
    ".fleet",
    ".zed/tasks.json",
    ".zed/settings.json",
    ".zed/debug.json",
    ".helix",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".vimrc",
    ".lvimrc",
    ".ycm_extra_conf.py",
    ".dir-locals.el",
    ".dir-locals-2.el",
    // Agents.
    ".mcp.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".cursor/mcp.json",
    ".cursor/hooks.json",
    ".cursor/environment.json",
    ".gemini/settings.json",
    ".gemini/extensions",
    ".qwen/settings.json",
    ".qwen/extensions",
    ".codex/config.toml",
    ".codex/hooks.json",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/plugin",
    ".opencode/plugins",
    ".opencode/tool",
    ".opencode/tools",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".aider.conf.yml",
    ".continue",
    ".roo/mcp.json",
    ".kiro/settings",
    ".kiro/hooks",
    ".amazonq/mcp.json",
    ".windsurf/hooks.json",
    ".github/hooks",
    ".crush.json",
    ".clinerules/hooks",
    ".kilocode/mcp.json",
    ".trae/mcp.json",
    ".junie/mcp",
    ".factory/mcp.json",
    ".factory/settings.json",
    // Shells, and managers of tools that shells start.
    ".envrc",
    ".autoenv.zsh",
    ".mise.toml",
    "mise.toml",
    "mise.local.toml",
    ".mise.local.toml",
    ".mise",
    ".config/mise.toml",
    ".config/mise",
    ".rvmrc",
    ".devcontainer",
    ".devcontainer.json",
    ".gitpod.yml",
    ".idx",
    // Hooks of git, and the settings of other version control systems, which name programs.
    ".pre-commit-config.yaml",
    ".husky",
    ".lefthook",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yaml",
    "lefthook.toml",
    ".lefthook.toml",
    "lefthook-local.yml",
    "lefthook.json",
    ".lefthook.json",
    "lefthook-local.yaml",
    "lefthook-local.toml",
    "lefthook-local.json",
    ".lefthook-local.yml",
    ".config/lefthook.yml",
    ".config/lefthook.yaml",
    ".config/lefthook.toml",
    ".config/lefthook.json",
    "prek.toml",
    ".overcommit.yml",
    ".hg/hgrc",
    ".jj/repo/config.toml",
    ".jj/workspace-config.toml",
    // Tools that run a file or a command from their settings whatever they are asked to do.
    ".cargo/config.toml",
    ".cargo/config",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "bunfig.toml",
    ".bazelrc",
    ".mvn/extensions.xml",
    ".mvn/jvm.config",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    ".Rprofile",
    ".irbrc",
    ".ghci",
    ".ocamlinit",
    ".iex.exs",
    ".pryrc",
    ".octaverc",
];

/// Files of the same kind whose names a project chooses; `*` stands for any text. Only those that exist when a program starts
/// can be protected from it: a person opens them by name, or sets a variable for them.
const CHOSEN: [&str; 3] = ["*.code-workspace", "mise.*.toml", ".mise.*.toml"];

/// The directories, relative to a folder, in which there may be such files.
const OF_CHOSEN: [&str; 2] = ["", ".config"];

/// The rule that protects the files of a project that decide what runs outside the sandbox.
pub const PROJECT_PROTECTED: &str = "project.protected";

/// A path that a program must not change, and the rule that protects it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Protected {
    pub(crate) path: PathBuf,
    pub(crate) rule: &'static str,
}

/// Returns the paths of a workspace that a program that starts in `folder` must not change: those that count in `folder`
/// and in the directory of the run. They need not exist. Refuses if they cannot all be found.
pub(crate) fn of(rules: &Rules, folder: &Path) -> Result<Vec<Protected>, Refusal> {
    let repositories = repository::all(&rules.workspace)?;
    let mut git = git_settings::leads_to(rules, &repositories)?;
    for folder in repository::git_folders(&rules.workspace) {
        git.extend(repository::protected(&folder)?);
    }
    // A `.git` that is no directory says where the repository is.
    let own = rules.workspace.join(".git");
    let leads = fs::symlink_metadata(&own).is_ok_and(|about| !about.is_dir()).then_some(own);
    let git = git
        .into_iter()
        .chain(leads)
        .chain(repository::in_links(&repositories))
        .map(|path| Protected { path, rule: "git.protected" });
    let folders: BTreeSet<_> = [folder, &rules.folder].into_iter().flat_map(|folder| folders(rules, folder)).collect();
    let project = folders.iter().flat_map(|folder| in_folder(rules, folder));
    let project = project.chain(AT_TOP.map(|name| rules.workspace.join(name)));
    let project = project.map(|path| Protected { path, rule: PROJECT_PROTECTED });
    let mut all: Vec<_> = git.chain(project).collect();
    all.extend(behind_links(&all, rules));
    all.retain(|protected| is_direct(&protected.path, &rules.workspace) && !rules.write.contains(&protected.path));
    all.sort();
    all.dedup_by(|one, other| one.path == other.path);
    Ok(all)
}

/// Returns a directory and its ancestors up to the workspace: Interlock and other programs search all of them.
fn folders(rules: &Rules, folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors().take_while(|place| place.starts_with(&rules.workspace));
    let mut places: Vec<_> = above.map(Path::to_owned).collect();
    places.push(rules.workspace.clone());
    places
}

/// Returns the protected paths of one directory.
fn in_folder(rules: &Rules, folder: &Path) -> Vec<PathBuf> {
    let store = rules.store.as_ref().and_then(|store| fs::canonicalize(store).ok());
    let project = folder.join(PROJECT);
    let mut paths = match store.is_some_and(|store| store.starts_with(&project)) {
        true => PROJECT_PARTS.map(|part| project.join(part)).to_vec(),
        false => vec![project],
    };
    paths.extend(IN_FOLDERS.map(|name| folder.join(name)));
    paths.extend(OF_CHOSEN.iter().flat_map(|below| chosen(&folder.join(below))));
    paths
}

/// Returns the files in a directory whose names a project chooses.
fn chosen(folder: &Path) -> Vec<PathBuf> {
    let names = Folder::open(folder).and_then(|opened| opened.names(Path::new(""))).unwrap_or_default();
    names.into_iter().filter(|name| name.to_str().is_some_and(is_chosen)).map(|name| folder.join(name)).collect()
}

fn is_chosen(name: &str) -> bool {
    CHOSEN.iter().any(|pattern| credentials::fits(name, pattern))
}

/// Returns the links on the way to protected paths, and the targets that are inside the workspace.
fn behind_links(all: &[Protected], rules: &Rules) -> Vec<Protected> {
    let mut more = Vec::new();
    for Protected { path, rule } in all {
        let above =
            path.ancestors().take_while(|place| place.starts_with(&rules.workspace) && **place != rules.workspace);
        let links: Vec<_> = above.filter(|place| place.is_symlink()).map(Path::to_owned).collect();
        if links.is_empty() {
            continue;
        }
        let real = path.parent().and_then(|above| fs::canonicalize(above).ok()).zip(path.file_name());
        let real = real.map(|(above, name)| above.join(name));
        let real = real.map(|path| fs::canonicalize(&path).unwrap_or(path));
        more.extend(links.into_iter().map(|path| Protected { path, rule }));
        more.extend(real.filter(|path| is_strictly_below(path, &rules.workspace)).map(|path| Protected { path, rule }));
    }
    more
}

fn is_strictly_below(path: &Path, top: &Path) -> bool {
    path.starts_with(top) && path != top
}

/// Returns true if no directory on the way to a path is a symbolic link. The last component may be one.
fn is_direct(path: &Path, top: &Path) -> bool {
    path.ancestors().skip(1).take_while(|place| is_strictly_below(place, top)).all(|place| !place.is_symlink())
}

/// Returns true if only a person may approve a change to this path, which is relative to the top of a workspace. This
/// is for code that writes to a workspace without the sandbox. The comparison ignores case, as some file systems do.
pub fn is_protected(path: &Path) -> bool {
    let text = path.to_string_lossy().to_lowercase();
    let is_project = || text.split('/').any(|part| part == PROJECT);
    let is_below = |name: &&str| {
        let name = name.to_lowercase();
        text == name || text.strip_prefix(&name).is_some_and(|rest| rest.starts_with('/'))
    };
    // A file that replaces a directory on the way, such as `.github`, removes everything below it.
    let is_above = |name: &&str| name.to_lowercase().starts_with(&format!("{text}/"));
    let ends: Vec<_> = text.match_indices('/').map(|(slash, _)| &text[slash + 1..]).chain([text.as_str()]).collect();
    let is_opened = |name: &&str| {
        let name = name.to_lowercase();
        let is_below =
            |end: &&str| end.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        ends.iter().any(|end| is_below(end) || name.starts_with(&format!("{end}/")))
    };
    is_project()
        || text.rsplit('/').next().is_some_and(is_chosen)
        || IN_FOLDERS.iter().any(is_opened)
        || AT_TOP.iter().any(|name| is_below(name) || is_above(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_decide_what_runs_are_protected() {
        let protected = [
            ".interlock/policy.toml",
            "sub/.interlock/machines/coder/machine.yaml",
            ".Interlock/judges.toml",
            ".github/workflows/ci.yml",
            ".github",
            ".gitmodules",
            "jenkinsfile",
            ".circleci/config.yml",
            ".envrc",
            "sub/.ENVRC",
            ".vscode/tasks.json",
            "sub/.vscode",
            ".husky/pre-commit",
            ".claude/settings.json",
            "crates/x/.cargo/config.toml",
            "x/Team.code-workspace",
            "mise.dev.toml",
            ".config/mise.ci.toml",
            ".hg/hgrc",
            ".mvn/jvm.config",
            "sub/.junie/mcp/mcp.json",
        ];
        for path in protected {
            assert!(is_protected(Path::new(path)), "{path}");
        }
        let free = [
            "src/main.rs",
            ".github/README.md",
            "sub/.github/workflows/x.yml",
            ".gitignore",
            "Jenkinsfiles/x",
            "package.json",
            "Makefile",
            "pyproject.toml",
            ".vscode/extensions.json",
            ".claude/agents/x.md",
            "AGENTS.md",
            "sub/.cargo/x",
            "x.envrc",
            "code-workspace",
            "a.code-workspace/b",
            ".mvn/wrapper/maven-wrapper.properties",
        ];
        for path in free {
            assert!(!is_protected(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_store_in_the_project_directory_is_not_protected() {
        let work = tempfile::tempdir().unwrap();
        let work = fs::canonicalize(work.path()).unwrap();
        fs::create_dir_all(work.join(".interlock/home")).unwrap();
        fs::create_dir_all(work.join("a/b")).unwrap();
        let rules = Rules { workspace: work.clone(), store: Some(work.join(".interlock/home")), ..Rules::default() };
        let paths: Vec<_> =
            of(&rules, &work.join("a/b")).unwrap().into_iter().map(|protected| protected.path).collect();
        assert!(paths.contains(&work.join(".interlock/policy.toml")) && !paths.contains(&work.join(".interlock")));
        assert!(paths.contains(&work.join("a/b/.interlock")) && paths.contains(&work.join("a/.interlock")));
    }
}

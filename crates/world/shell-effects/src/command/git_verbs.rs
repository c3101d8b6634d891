//! The effect of each git command on the user's work: first a table, then the verbs whose options decide.

use super::options::Line;
use crate::shell::Field;

/// The effect of a git command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// It only reads files and git's data.
    Read,
    /// It changes files of the workspace, as a patch would.
    Files,
    /// It changes git's data, and loses nothing.
    Write,
    /// It loses changes that are not committed; a snapshot holds them.
    LoseChanges,
    /// It loses files that git ignores; no snapshot holds those.
    LoseIgnored,
    /// It loses commits, stashes or references to them; no snapshot holds those.
    LoseHistory,
    /// It connects to another computer, and changes only git's local data.
    Fetch,
    /// It changes the history on another computer.
    Push,
    /// It loses history on another computer.
    LoseRemote,
    /// It runs a program that is named in its arguments.
    Runs,
    /// It is not a built-in git command.
    Unknown,
}

/// Verbs whose effect does not depend on their options.
const PLAIN: [(&[&str], Does); 8] = [
    (
        &[
            "status",
            "diff",
            "log",
            "show",
            "rev-parse",
            "ls-files",
            "ls-tree",
            "grep",
            "blame",
            "annotate",
            "describe",
            "cat-file",
            "rev-list",
            "shortlog",
            "name-rev",
            "merge-base",
            "for-each-ref",
            "var",
            "version",
            "help",
            "check-ignore",
            "check-attr",
            "count-objects",
            "fsck",
            "diff-tree",
            "diff-index",
            "diff-files",
            "show-ref",
            "whatchanged",
            "cherry",
            "range-diff",
            "stripspace",
            "verify-commit",
            "verify-tag",
            "show-branch",
            "merge-tree",
            "ls-remote",
            "get-tar-commit-id",
            "patch-id",
            "check-ref-format",
            "check-mailmap",
            "hash-object",
            "--version",
            "--help",
            "--exec-path",
            "--html-path",
            "--man-path",
        ],
        Does::Read,
    ),
    (&["apply", "format-patch", "archive", "bundle", "interpret-trailers"], Does::Files),
    (
        &[
            "add",
            "commit",
            "merge",
            "cherry-pick",
            "revert",
            "rebase",
            "init",
            "mv",
            "am",
            "notes",
            "replace",
            "sparse-checkout",
            "pack-refs",
            "write-tree",
            "commit-tree",
            "mktree",
            "mktag",
            "update-index",
            "rerere",
            "maintenance",
            "repack",
            "commit-graph",
            "multi-pack-index",
            "stage",
            "unpack-objects",
            "index-pack",
            "fast-export",
            "pack-objects",
            "quiltimport",
        ],
        Does::Write,
    ),
    (&["fetch", "pull", "clone"], Does::Fetch),
    (
        &[
            "request-pull",
            "send-email",
            "imap-send",
            "svn",
            "p4",
            "cvsimport",
            "daemon",
            "instaweb",
            "http-push",
            "send-pack",
        ],
        Does::Push,
    ),
    (&["filter-branch", "filter-repo", "prune", "prune-packed", "fast-import", "obliterate"], Does::LoseHistory),
    (&["checkout-index", "read-tree"], Does::LoseChanges),
    (
        &[
            "difftool",
            "mergetool",
            "hook",
            "bisect--helper",
            "credential",
            "upload-pack",
            "receive-pack",
            "remote-ext",
            "shell",
            "gui",
            "citool",
        ],
        Does::Runs,
    ),
];

/// Returns the effect of `git VERB ARGS`.
pub(super) fn does(verb: &str, args: &[Field]) -> Does {
    if matches!(args, [only] if only.text == "--help" || only.text == "-h") {
        return Does::Read;
    }
    if let Some((_, does)) = PLAIN.iter().find(|(verbs, _)| verbs.contains(&verb)) {
        return with_program(verb, args, *does);
    }
    let line = Line::of(args, &[]);
    let first = line.operands.first().map(|first| first.text.as_str());
    let is_force = line.has(&["-f", "--force"]);
    match verb {
        "reset" if line.has(&["--hard", "--merge", "--keep"]) => Does::LoseChanges,
        "reset" => Does::Write,
        "clean" if line.has(&["-n", "--dry-run"]) => Does::Read,
        "clean" if line.has(&["-x", "-X"]) => Does::LoseIgnored,
        "clean" => Does::LoseChanges,
        "checkout" => checkout(args, &line, is_force),
        "switch" if is_force || line.has(&["--discard-changes", "-C", "--force-create"]) => Does::LoseChanges,
        "switch" => Does::Write,
        "restore" if line.has(&["--staged", "-S"]) && !line.has(&["--worktree", "-W"]) => Does::Write,
        "restore" => Does::LoseChanges,
        "rm" if line.has(&["--cached"]) => Does::Write,
        "rm" => Does::LoseChanges,
        "stash" => stash(first),
        "branch" => branch(&line, is_force),
        "tag" if line.has(&["-d", "--delete"]) || is_force => Does::LoseHistory,
        "tag" if line.operands.is_empty() || line.has(&["-l", "--list", "-v", "--contains", "--points-at"]) => {
            Does::Read
        }
        "tag" => Does::Write,
        "push" => push(&line, is_force),
        "reflog" if matches!(first, Some("expire" | "delete" | "drop")) => Does::LoseHistory,
        "reflog" => Does::Read,
        "gc" if line.options.iter().any(|(name, _)| name.starts_with("--prune") || name == "--aggressive") => {
            Does::LoseHistory
        }
        "gc" => Does::Write,
        "update-ref" => Does::LoseHistory,
        "symbolic-ref" if line.operands.len() < 2 && !line.has(&["-d", "--delete"]) => Does::Read,
        "symbolic-ref" => Does::Write,
        "worktree" => match first {
            None | Some("list") => Does::Read,
            Some("remove" | "prune") => Does::LoseChanges,
            Some(_) => Does::Write,
        },
        "submodule" => submodule(first, is_force),
        "remote" if matches!(first, None | Some("show" | "get-url")) => Does::Read,
        "remote" => Does::Write,
        "config" => config(&line),
        "bisect" => match first {
            Some("run") => Does::Runs,
            Some("log" | "view" | "visualize") => Does::Read,
            _ => Does::Write,
        },
        "lfs" => {
            if matches!(first, Some("ls-files" | "status" | "env")) {
                Does::Read
            } else {
                Does::Fetch
            }
        }
        _ => Does::Unknown,
    }
}

/// Options that name a program or a file give a read-only verb a further effect.
fn with_program(verb: &str, args: &[Field], does: Does) -> Does {
    let has = |words: &[&str]| {
        args.iter().any(|arg| {
            words
                .iter()
                .any(|word| arg.text == *word || arg.text.strip_prefix(word).is_some_and(|rest| rest.starts_with('=')))
        })
    };
    match verb {
        "rebase" if has(&["--exec", "-x"]) || args.iter().any(|arg| arg.text.starts_with("-x")) => Does::Runs,
        "grep" if has(&["--open-files-in-pager"]) || args.iter().any(|arg| arg.text.starts_with("-O")) => Does::Runs,
        "fetch" | "pull" | "clone" | "ls-remote" if has(&["--upload-pack", "-u", "-c", "--config", "--exec"]) => {
            Does::Runs
        }
        "fetch" | "pull" | "clone" | "ls-remote"
            if args.iter().any(|arg| arg.text.starts_with("ext::") || arg.text.starts_with("fd::")) =>
        {
            Does::Runs
        }
        "ls-remote" => Does::Fetch,
        "archive" if has(&["--remote", "--exec"]) => Does::Runs,
        "diff" | "log" | "show" | "format-patch" | "bundle" | "archive" if has(&["--output", "-o"]) => Does::Files,
        "diff" | "log" | "show" if has(&["--ext-diff", "--textconv"]) => Does::Runs,
        "hash-object" if has(&["-w"]) => Does::Write,
        "commit" if has(&["--amend"]) => Does::Write,
        _ => does,
    }
}

/// `git checkout` discards changes if it gets paths.
fn checkout(args: &[Field], line: &Line<'_>, is_force: bool) -> Does {
    let has_paths = args.iter().any(|arg| arg.text == "--") && args.last().is_some_and(|last| last.text != "--");
    let makes_branch = line.has(&["-b", "--orphan", "-t", "--track", "--detach"]);
    let is_path = |field: &&Field| {
        matches!(field.text.as_str(), "." | "*")
            || field.is_pattern
            || field.text.starts_with("./")
            || field.text.starts_with(":/")
    };
    match () {
        () if is_force
            || has_paths
            || line.has(&["-p", "--patch", "--ours", "--theirs", "--pathspec-from-file", "-B"]) =>
        {
            Does::LoseChanges
        }
        () if line.operands.iter().any(is_path) => Does::LoseChanges,
        () if line.operands.len() > 1 && !makes_branch => Does::LoseChanges,
        () => Does::Write,
    }
}

fn stash(verb: Option<&str>) -> Does {
    match verb {
        Some("drop" | "clear") => Does::LoseHistory,
        Some("list" | "show") => Does::Read,
        _ => Does::Write,
    }
}

fn branch(line: &Line<'_>, is_force: bool) -> Does {
    let deletes = line.has(&["-d", "--delete"]);
    match () {
        () if line.has(&["-D", "-M", "-C"]) || is_force => Does::LoseHistory,
        () if deletes => Does::Write,
        () if line.has(&[
            "-m",
            "-c",
            "-u",
            "--move",
            "--copy",
            "--set-upstream-to",
            "--unset-upstream",
            "--edit-description",
        ]) =>
        {
            Does::Write
        }
        () if line.operands.is_empty()
            || line.has(&["-l", "--list", "-a", "-r", "-v", "--contains", "--merged", "--show-current"]) =>
        {
            Does::Read
        }
        () => Does::Write,
    }
}

fn push(line: &Line<'_>, is_force: bool) -> Does {
    let forced = line.options.iter().any(|(name, _)| name.starts_with("--force"));
    let loses = line.has(&["-d", "--delete", "--mirror", "--prune"]);
    let refs = line.operands.iter().skip(1).any(|field| field.text.starts_with(['+', ':']));
    match () {
        () if line.options.iter().any(|(name, _)| name.starts_with("--receive-pack") || name == "--exec") => Does::Runs,
        () if is_force || forced || loses || refs => Does::LoseRemote,
        () => Does::Push,
    }
}

fn submodule(verb: Option<&str>, is_force: bool) -> Does {
    match verb {
        None | Some("status" | "summary") => Does::Read,
        Some("foreach") => Does::Runs,
        Some("deinit") if is_force => Does::LoseChanges,
        Some("update" | "add") => Does::Fetch,
        Some(_) => Does::Write,
    }
}

fn config(line: &Line<'_>) -> Does {
    let asks = line.has(&[
        "--get",
        "--get-all",
        "--get-regexp",
        "-l",
        "--list",
        "--get-urlmatch",
        "--get-color",
        "--get-colorbool",
    ]);
    let first = line.operands.first().map(|first| first.text.as_str());
    match () {
        () if asks || matches!(first, Some("get" | "list")) => Does::Read,
        () if line.operands.len() == 1
            && line.options.iter().all(|(name, _)| {
                matches!(
                    name.as_str(),
                    "--global" | "--local" | "--system" | "--bool" | "--int" | "--path" | "--worktree"
                )
            }) =>
        {
            Does::Read
        }
        () => Does::Write,
    }
}

//! Scripts that prepare a workspace: each line puts something unexpected in place of a file that Interlock or git reads
//! or writes.

/// The places that a script prepares.
const PLACES: &[&str] = &[
    ".gitignore",
    "d/.gitignore",
    ".gitattributes",
    "d/.gitattributes",
    ".gitmodules",
    ".mailmap",
    "d",
    "f",
    "d/g",
    "d/deep",
    "new.txt",
    "more.txt",
    ".git",
    ".git/HEAD",
    ".git/config",
    ".git/config.worktree",
    ".git/index",
    ".git/index.lock",
    ".git/packed-refs",
    ".git/shallow",
    ".git/info",
    ".git/info/exclude",
    ".git/info/attributes",
    ".git/info/grafts",
    ".git/objects",
    ".git/objects/info/alternates",
    ".git/objects/pack",
    ".git/refs",
    ".git/refs/heads",
    ".git/refs/heads/main",
    ".git/refs/tags",
    ".git/refs/stash",
    ".git/refs/replace",
    ".git/logs",
    ".git/logs/HEAD",
    ".git/hooks",
    ".git/hooks/pre-commit",
    ".git/commondir",
    ".git/gitdir",
    ".git/worktrees",
    ".git/modules",
    ".git/MERGE_HEAD",
    ".git/ORIG_HEAD",
    ".git/COMMIT_EDITMSG",
    ".git/HEAD.lock",
    ".git/rebase-merge/git-rebase-todo",
    ".git/sequencer",
    ".interlock",
    ".interlock/policy.toml",
    ".interlock/machines",
    "inner",
    "inner/.git",
    "inner/.git/config",
    "inner/.git/HEAD",
    "inner/.git/index",
    ".git/fsmonitor--daemon.ipc",
    ".agents",
    "AGENTS.md",
];

/// Makes scripts from a seed.
pub(super) struct Traps<'t> {
    state: u64,
    out: &'t str,
}

impl<'t> Traps<'t> {
    pub(super) fn new(seed: u64, out: &'t str) -> Self {
        Traps { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, out }
    }

    /// Returns a number below a bound (xorshift).
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap() % bound
    }

    /// Returns a script with a few traps. Its lines fail one by one where the sandbox refuses them.
    pub(super) fn script(&mut self) -> String {
        let count = 2 + self.below(5);
        let mut lines = vec!["C=$PWD/canary.sh".to_owned()];
        if self.below(2) == 0 {
            lines.push(self.nested());
        }
        lines.extend((0..count).map(|_| self.trap()));
        lines.push("exit 0".to_owned());
        lines.join("\n") + "\n"
    }

    fn trap(&mut self) -> String {
        let place = PLACES[self.below(PLACES.len())];
        let out = self.out;
        let there = match self.below(14) {
            0 => format!("ln -s {out}/file '{place}'"),
            1 => format!("ln -s {out}/dir '{place}'"),
            2 => format!("ln -s {out}/repo/.git '{place}'"),
            3 => format!("ln -s /dev/zero '{place}'"),
            4 => format!("ln -s '{place}' '{place}'"),
            5 => format!("mkfifo '{place}'"),
            6 => format!("mkdir -p '{place}/x'; echo x > '{place}/x/y'"),
            7 => format!("truncate -s 3G '{place}'"),
            8 => format!("head -c 3000 /dev/urandom > '{place}'"),
            9 => format!("python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"{place}\")'"),
            10 => format!("echo 'gitdir: {out}/repo/.git' > '{place}'"),
            11 => format!("printf '[include]\\n\\tpath = {out}/file\\n{}' > '{place}'", settings()),
            12 => format!("cp f '{place}'; chmod 0 '{place}'"),
            _ => ":".to_owned(),
        };
        format!("mkdir -p \"$(dirname '{place}')\"; rm -rf '{place}'; {there}")
    }

    /// A repository in the workspace whose settings name programs, with or without an entry in the outer index.
    fn nested(&mut self) -> String {
        let filter =
            "echo '* filter=x diff=x merge=x' > inner/.gitattributes; echo '* filter=x diff=x' > .gitattributes";
        let entry =
            ["true", "git add inner", "git -c protocol.file.allow=always submodule add -q ./inner sub"][self.below(3)];
        format!(
            "git init -q -b main inner && (cd inner; git config user.name a; git config user.email a@b; echo 1 > in; git add -A; git commit -qm in); \
             {entry}; printf '{}' >> inner/.git/config; {filter}; echo 2 >> inner/in",
            settings()
        )
    }
}

/// Settings of git that name programs to start. `$C` would end up literally in the file, so it is replaced by the shell.
fn settings() -> String {
    let names = [
        "[core]\\n\\tfsmonitor = CANARY\\n\\thooksPath = .\\n\\teditor = CANARY\\n\\tpager = CANARY\\n\\tsshCommand = CANARY\\n\\tattributesFile = .gitattributes\\n",
        "[filter \"x\"]\\n\\tclean = CANARY\\n\\tsmudge = CANARY\\n\\tprocess = CANARY\\n\\trequired = true\\n",
        "[diff]\\n\\texternal = CANARY\\n[diff \"x\"]\\n\\ttextconv = CANARY\\n\\tcommand = CANARY\\n",
        "[merge \"x\"]\\n\\tdriver = CANARY\\n[gpg]\\n\\tprogram = CANARY\\n[commit]\\n\\tgpgSign = true\\n[credential]\\n\\thelper = CANARY\\n",
        "[gc]\\n\\trecentObjectsHook = CANARY\\n[uploadpack]\\n\\tpackObjectsHook = CANARY\\n[submodule]\\n\\trecurse = true\\n",
    ];
    names.concat().replace("CANARY", "'\"$C\"'")
}

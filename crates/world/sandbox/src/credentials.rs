//! The places of credentials and other secrets of users, from the list `hidden.txt`.
//!
//! The list has names of tools, and patterns for families: histories, browser profiles, files that are called
//! `credentials`. Patterns are evaluated before each program, so that tools that are installed later are covered.

#![expect(clippy::disallowed_methods, reason = "the file is only read")]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File, Metadata},
    io::Read,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use rustix::fs::OFlags;

const LIST: &str = include_str!("hidden.txt");

/// Maximum size of a settings file that is searched for credentials.
const SETTINGS_BYTES_MAX: u64 = 1_024 * 1_024;

/// Maximum number of entries of one directory that are compared with a pattern.
const ENTRIES_MAX: usize = 4_096;

/// Minimum age of a directory's last change for its names to be remembered. A later change then has another time.
const SETTLED: Duration = Duration::from_secs(3);

/// Directories that are not searched for families, because they are large and hold downloads.
const LARGE: [&str; 6] = [".cache", ".local", ".npm", ".rustup", ".vscode", ".nvm"];

/// Returns the places that exist or have a fixed name, for a user with this home directory.
pub(crate) fn credentials(home: Option<&Path>) -> Vec<PathBuf> {
    listed(LIST, home)
}

/// Returns the places of a list, which may have comments.
pub(crate) fn listed(list: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut places: Vec<_> = lines.flat_map(|line| places(line, home)).collect();
    places.sort();
    places.dedup();
    places
}

/// Returns the places of one line of a list.
pub(crate) fn places(line: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let (sign, pattern) = match line.split_once(' ') {
        Some((sign @ ("?" | "~"), pattern)) => (sign, pattern),
        _ => ("", line),
    };
    let (top, rest) = match (pattern.strip_prefix('/'), home) {
        (Some(rest), _) => (Path::new("/"), rest),
        (None, Some(home)) => (home, pattern),
        (None, None) => return Vec::new(),
    };
    let mut found = vec![top.to_owned()];
    for part in rest.split('/') {
        found = found.iter().flat_map(|folder| named(folder, part)).collect();
    }
    match sign {
        "?" => found.iter().filter(|path| path.exists()).filter_map(|path| path.parent()).map(Path::to_owned).collect(),
        "~" => found.into_iter().filter(|path| text(path).is_some_and(|text| !is_harmless(&text))).collect(),
        _ => found,
    }
}

/// Reads a settings file. Returns `None` if it is no small file.
pub(crate) fn text(path: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&bytes(path, SETTINGS_BYTES_MAX)?).into_owned())
}

/// Reads a file without waiting for it, if it is not larger than this.
pub(crate) fn bytes(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let nonblock = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblock).open(path).ok()?;
    let about = file.metadata().ok().filter(|about| about.is_file() && about.len() <= bytes_max)?;
    let mut bytes = Vec::new();
    file.take(about.len()).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns true if no line of a settings file looks like a credential.
pub(crate) fn is_harmless(settings: &str) -> bool {
    !settings.lines().any(looks_like_credential)
}

/// Returns true if a line has a setting with the name of a credential, or an address with a password.
pub(crate) fn looks_like_credential(line: &str) -> bool {
    const NAMES: [&str; 8] = ["token", "pass", "secret", "oauth", "_auth", "apikey", "api_key", "api-key"];
    const ANYWHERE: [&str; 4] = ["authorization", "extraheader", "password", "bearer "];
    let line = line.trim().to_lowercase();
    if line.starts_with(['#', ';']) && !line.contains('=') && !line.contains("://") {
        return false;
    }
    let name = line.split(['=', ':']).next().unwrap_or_default();
    let has_user = |rest: &str| rest.split(['/', '"', '\'', ' ']).next().is_some_and(|host| host.contains('@'));
    NAMES.iter().any(|secret| name.contains(secret))
        || ANYWHERE.iter().any(|secret| line.contains(secret))
        || line.split("://").skip(1).any(has_user)
}

/// Returns the entry with this name even if it does not exist, or the entries that match a pattern.
fn named(folder: &Path, part: &str) -> Vec<PathBuf> {
    if !part.contains('*') {
        return vec![folder.join(part)];
    }
    let names = names(folder);
    let fits = names.iter().filter(|name| name.to_str().is_some_and(|name| fits(name, part)));
    fits.map(|name| folder.join(name)).collect()
}

/// The names in a directory.
#[derive(Debug)]
struct Names {
    /// The device, inode and times of the directory. Every new, removed or renamed entry changes the times.
    stamp: (u64, u64, [i64; 4]),
    names: Arc<[OsString]>,
}

/// The names in directories that have not changed. Reading all of them again takes longer than many programs run.
static NAMES: Mutex<BTreeMap<PathBuf, Names>> = Mutex::new(BTreeMap::new());

/// Returns the names in a directory.
fn names(folder: &Path) -> Arc<[OsString]> {
    let known = || NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(about) = fs::metadata(folder).ok().filter(Metadata::is_dir) else { return Arc::new([]) };
    let stamp = (about.dev(), about.ino(), [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()]);
    if let Some(known) = known().get(folder).filter(|known| known.stamp == stamp) {
        return known.names.clone();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let names: Arc<[OsString]> = entries.map(|entry| entry.file_name()).collect();
    let changed =
        SystemTime::UNIX_EPOCH + Duration::from_secs(about.ctime().max(about.mtime()).try_into().unwrap_or(0));
    if SystemTime::now().duration_since(changed).is_ok_and(|age| age > SETTLED) {
        known().insert(folder.to_owned(), Names { stamp, names: names.clone() });
    }
    names
}

/// Returns true if a name matches a pattern in which `*` stands for any text.
pub(crate) fn fits(name: &str, pattern: &str) -> bool {
    // `.*` alone would match every hidden directory, including the large ones.
    if pattern == ".*" && LARGE.contains(&name) {
        return false;
    }
    let mut parts = pattern.split('*');
    let (first, last) = (parts.next().unwrap_or_default(), pattern.rsplit('*').next().unwrap_or_default());
    let Some(mut rest) = name.strip_prefix(first).filter(|rest| rest.len() >= last.len()) else { return false };
    let middle: Vec<_> = parts.collect();
    for part in middle.iter().take(middle.len().saturating_sub(1)) {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_parts_of_one_name() {
        for (name, pattern) in [
            (".psql_history", ".*_history"),
            ("settings-security.xml", "settings*.xml"),
            ("a_token.json", "*_token*"),
            (".x", ".*"),
        ] {
            assert!(fits(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in
            [("history", ".*_history"), (".cache", ".*"), ("setting.xml", "settings*.xml"), ("ab", "ab*b")]
        {
            assert!(!fits(name, pattern), "{name} {pattern}");
        }
    }

    #[test]
    fn settings_with_a_credential_are_hidden_and_others_are_not() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".cargo")).unwrap();
        let settings = home.path().join(".cargo/config.toml");
        for text in ["[registries.x]\ntoken = 'abc'", "proxy = 'http://me:word@proxy:80'", "# old_password=x"] {
            fs::write(&settings, text).unwrap();
            assert!(credentials(Some(home.path())).contains(&settings), "{text}");
        }
        for text in ["[net]\noffline = true # a comment", "index = 'https://example.com/@x/'", "# about tokens"] {
            fs::write(&settings, text).unwrap();
            assert!(!credentials(Some(home.path())).contains(&settings), "{text}");
        }
    }

    #[test]
    fn families_are_found_and_ordinary_files_are_not() {
        let home = tempfile::tempdir().unwrap();
        let hidden = [
            ".psql_history",
            ".local/share/fish/fish_history",
            ".m2/settings.xml",
            ".config/newtool/credentials.json",
            ".newtool/credentials",
            ".newtool/auth.json",
            ".config/newtool2/access_token",
            ".config/newtool3/hosts.yml",
        ];
        let open = [".m2/repository/x.jar", ".config/newtool/settings.json", ".bashrc", ".cache/pip/x", ".profile"];
        for name in hidden.iter().chain(&open).chain(&[".config/Browser/Local State"]) {
            fs::create_dir_all(home.path().join(name).parent().unwrap()).unwrap();
            fs::write(home.path().join(name), "").unwrap();
        }
        let places = credentials(Some(home.path()));
        let is_hidden = |name: &str| places.iter().any(|place| home.path().join(name).starts_with(place));
        for name in hidden.iter().chain(&[".config/Browser/Cookies", ".claude/x", ".terraform.d/x", ".Xauthority"]) {
            assert!(is_hidden(name), "{name}");
        }
        for name in open {
            assert!(!is_hidden(name), "{name}");
        }
        assert!(credentials(None).contains(&"/etc/krb5.keytab".into()));
    }

    #[test]
    fn credentials_within_toolchains_that_are_shown_are_hidden() {
        let home = tempfile::tempdir().unwrap();
        let hidden = [
            ".local/share/gem/credentials",
            ".luarocks/upload_config.lua",
            ".npm/_logs/x.log",
            ".nvm/versions/node/v20/etc/npmrc",
            ".volta/tools/image/node/20/etc/npmrc",
            "miniforge3/.condarc",
            ".conda/envs/x/pip.conf",
            ".virtualenvs/x/pip.conf",
            ".local/share/pnpm/rc",
            ".cargo/git/db/x-1/config",
            "go/pkg/mod/cache/vcs/1f/config",
            ".cache/ms-playwright/mcp-chrome/Default/Cookies",
        ];
        let open =
            [".nvm/versions/node/v20/bin/node", ".cargo/git/db/y-2/HEAD", ".cache/ms-playwright/chromium-1/chrome"];
        for name in hidden.iter().chain(&open) {
            fs::create_dir_all(home.path().join(name).parent().unwrap()).unwrap();
            fs::write(home.path().join(name), "url = https://me:word@example.com/x\n").unwrap();
        }
        let harmless = home.path().join(".virtualenvs/y/pip.conf");
        fs::create_dir_all(harmless.parent().unwrap()).unwrap();
        fs::write(&harmless, "[global]\ntimeout = 60\n").unwrap();
        let places = credentials(Some(home.path()));
        let is_hidden = |path: &Path| places.iter().any(|place| path.starts_with(place));
        assert_eq!(hidden.map(|name| is_hidden(&home.path().join(name))), [true; 12], "{places:?}");
        assert_eq!(open.map(|name| is_hidden(&home.path().join(name))), [false; 3], "{places:?}");
        assert!(!is_hidden(&harmless));
    }

    #[test]
    fn new_names_are_found_in_a_directory_whose_names_are_remembered() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("one"), "").unwrap();
        // A directory that changed long ago is remembered. Its inode's change time cannot be set, so wait.
        std::thread::sleep(SETTLED + Duration::from_secs(1));
        assert_eq!(names(folder.path()).len(), 1);
        assert!(NAMES.lock().unwrap().contains_key(folder.path()));
        fs::write(folder.path().join("two"), "").unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        fs::remove_file(folder.path().join("one")).unwrap();
        assert_eq!(names(folder.path()).iter().collect::<Vec<_>>(), ["two"]);
    }
}

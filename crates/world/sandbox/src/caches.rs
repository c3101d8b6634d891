//! Private caches for tools that fail without one that they can write.
//!
//! Most tools work without a cache, and read the person's, which programs may see. Those of this table end instead. Their
//! caches lie in the private temporary directory, so a program finds none that another one has written. A room of a
//! verification shows a directory of its own there.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::Rules;

/// The name of the directory of caches in the private temporary directory of a program.
pub const CACHES: &str = "interlock-caches";

/// The variables that name these caches, and the names of their directories, which are those in `~/.cache`.
const VARIABLES: [(&str, &str); 5] = [
    ("GOCACHE", "go-build"),
    ("GOLANGCI_LINT_CACHE", "golangci-lint"),
    ("STATICCHECK_CACHE", "staticcheck"),
    ("CCACHE_DIR", "ccache"),
    ("ZIG_GLOBAL_CACHE_DIR", "zig"),
];

/// Returns the variables of caches that the program cannot write where they usually are. `env` is its environment, which
/// may name other places.
pub(crate) fn variables(rules: &Rules, env: &[(OsString, OsString)], temp: &Path) -> Vec<(&'static str, PathBuf)> {
    let value = |wanted: &str| env.iter().find(|(name, _)| name == wanted).map(|(_, value)| PathBuf::from(value));
    let usual = value("XDG_CACHE_HOME").or_else(|| Some(value("HOME")?.join(".cache")));
    let is_writable = |place: PathBuf| {
        rules.write.iter().chain([&rules.workspace]).any(|allowed| place.starts_with(allowed))
            || place.starts_with(temp)
    };
    let is_usable = |name: &str| usual.as_ref().is_some_and(|usual| is_writable(usual.join(name)));
    let needed = VARIABLES.into_iter().filter(|(variable, name)| value(variable).is_none() && !is_usable(name));
    needed.map(|(variable, name)| (variable, temp.join(CACHES).join(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_the_program_can_write_stays_where_it_is() {
        let named = |rules: &Rules, env: &[(&str, &str)]| -> Vec<&str> {
            let env: Vec<_> = env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
            variables(rules, &env, Path::new("/tmp/own")).into_iter().map(|(name, _)| name).collect()
        };
        let home = ("HOME", "/home/a");
        let closed = Rules { workspace: "/home/a/work".into(), ..Rules::default() };
        assert!(named(&closed, &[home]).contains(&"GOCACHE"));
        assert!(!named(&closed, &[home, ("GOCACHE", "/x")]).contains(&"GOCACHE"));
        assert_eq!(named(&closed, &[("HOME", "/home/a/work/home")]), [""; 0]);
        let open = Rules { write: vec!["/home/a/.cache/go-build".into()], ..closed };
        let left = named(&open, &[home]);
        assert!(!left.contains(&"GOCACHE") && left.contains(&"CCACHE_DIR"), "{left:?}");
    }
}

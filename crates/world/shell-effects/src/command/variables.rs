//! Environment variables that change the behaviour of other programs: the code they load, the programs they start,
//! their search paths.
//!
//! Families of names come first, by prefix and suffix; then the names that belong to none.

/// Names that are dangerous for every program.
const NAMES: [&str; 64] = [
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_ENV",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "ZDOTDIR",
    "FPATH",
    "PATH",
    "HOME",
    "SHELL",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "MANPAGER",
    "MANOPT",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MFLAGS",
    "MAKEFILES",
    "TAR_OPTIONS",
    "RSYNC_RSH",
    "RSYNC_OLD_ARGS",
    "GREP_OPTIONS",
    "GZIP",
    "XZ_OPT",
    "XZ_DEFAULTS",
    "ZIPOPT",
    "UNZIP",
    "CPATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "RUSTC",
    "RUSTDOC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "GOFLAGS",
    "CLASSPATH",
    "PERL5LIB",
    "PERL5DB",
    "PERL5OPT",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "RUBYLIB",
    "RUBYOPT",
    "NODE_PATH",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "TCLLIBPATH",
    "GCONV_PATH",
    "TERMINFO",
    "OPENSSL_CONF",
    "PIP_CONFIG_FILE",
    "DOCKER_HOST",
    "XDG_CONFIG_HOME",
];

/// Prefixes of dangerous names.
const BEGINNINGS: [&str; 8] =
    ["LD_", "DYLD_", "BASH_FUNC_", "GIT_", "SSH_ASKPASS", "npm_config_", "NPM_CONFIG_", "CARGO_TARGET_"];

/// Names with such a prefix that only carry data.
const HARMLESS: [&str; 9] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "CARGO_TARGET_DIR",
];

/// Suffixes of dangerous names.
const ENDS: [&str; 12] = [
    "_PRELOAD",
    "_WRAPPER",
    "_LAUNCHER",
    "_COMMAND",
    "_PAGER",
    "_EDITOR",
    "_ASKPASS",
    "_OPTIONS",
    "_OPTS",
    "_RUNNER",
    "_LINKER",
    "_PLUGIN",
];

/// Values that make these variables harmless.
const PLAIN_VALUES: [&str; 6] = ["", "cat", "true", ":", "less", "more"];

/// Parts of compiler flags that name a program or a library to load.
const LOADING_FLAGS: [&str; 6] = ["-fplugin", "-wrapper", "-B", "linker=", "-toolexec", "-specs"];

/// Variables whose value is a program that a build starts.
const TOOLS: [&str; 12] = ["CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "RANLIB", "STRIP", "OBJCOPY", "FC", "HOSTCC"];

/// Reports if a variable with this value changes the code that other programs run.
pub(super) fn is_dangerous(name: &str, value: &str) -> bool {
    if PLAIN_VALUES.contains(&value) || HARMLESS.contains(&name) {
        return false;
    }
    if name.ends_with("FLAGS") && !NAMES.contains(&name) {
        return LOADING_FLAGS.iter().any(|flag| value.contains(flag)) || value.contains('…');
    }
    if TOOLS.contains(&name) {
        return !is_plain_tool(value);
    }
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDS.iter().any(|end| name.ends_with(end))
}

/// Accepts a compiler by its name alone, such as `clang-17` or `arm-none-eabi-gcc`, with plain options.
fn is_plain_tool(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let is_name = |word: &str| word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.+".contains(letter));
    words.next().is_some_and(is_name)
        && words.all(|word| word.starts_with('-') && !LOADING_FLAGS.iter().any(|flag| word.contains(flag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_choose_code_are_dangerous() {
        for (name, value) in [
            ("CDPATH", "/etc"),
            ("MAKEFLAGS", "--eval=x:"),
            ("LD_PRELOAD", "./x.so"),
            ("GIT_SSH_COMMAND", "sh x"),
            ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "sh"),
            ("JAVA_TOOL_OPTIONS", "-javaagent:x"),
            ("CFLAGS", "-fplugin=./x.so"),
            ("CC", "./cc"),
            ("CC", "sh -c x"),
            ("PATH", "/x:/usr/bin"),
        ] {
            assert!(is_dangerous(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("CI", "1"),
            ("CFLAGS", "-O2 -g"),
            ("CC", "clang-17"),
            ("CC", "gcc -m32"),
            ("RUSTFLAGS", "-D warnings"),
            ("GIT_AUTHOR_NAME", "ada"),
            ("PAGER", "cat"),
            ("RUST_LOG", "debug"),
            ("CARGO_TARGET_DIR", "target/x"),
        ] {
            assert!(!is_dangerous(name, value), "{name}={value}");
        }
    }
}

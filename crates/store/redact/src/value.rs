//! Decides if a value beside the name of a secret is a secret, or a placeholder, a word, a path or a piece of code.

/// The notation of a value in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// The value is between quotes.
    Quoted,
    /// The value is bare and certain: after a flag, or directly after `=`.
    Given,
    /// The value is bare, and may be an expression or prose: after `: ` or ` = `.
    Bare,
}

/// The minimum length of a password.
const PASSWORD_BYTES_MIN: usize = 4;

/// The minimum length of a token.
const TOKEN_BYTES_MIN: usize = 8;

/// Reports if the value is a password and not a placeholder.
pub(crate) fn is_password(value: &[u8], style: Style) -> bool {
    if value.len() < PASSWORD_BYTES_MIN || is_placeholder(value) || is_path(value) || is_package_version(value) {
        return false;
    }
    if style != Style::Quoted && is_code(value) {
        return false;
    }
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || b"_- ".contains(byte) || !byte.is_ascii();
    if !value.iter().all(is_word) {
        return !value.iter().all(|byte| byte.is_ascii_punctuation()) && !is_prose(value);
    }
    // Only letters: a word of a language, or a password that looks like one.
    let is_lower = value.iter().all(|byte| !byte.is_ascii_uppercase());
    let is_mixed = value[1..].iter().any(u8::is_ascii_uppercase) && !is_lower && !is_camel(value);
    let is_long = value.len() >= 6 && !value.contains(&b' ') && !has_telling_word(value);
    is_long && (is_mixed || (is_lower && style != Style::Bare))
}

/// Reports if the value is a token and not a placeholder.
pub(crate) fn is_token(value: &[u8], style: Style) -> bool {
    let is_number = value.iter().all(|byte| byte.is_ascii_digit() || b"._,:-".contains(byte));
    let is_out = value.len() < TOKEN_BYTES_MIN || is_number || is_placeholder(value) || is_path(value);
    if is_out || value.contains(&b' ') || (style != Style::Quoted && is_code(value)) {
        return false;
    }
    match style {
        Style::Quoted | Style::Given if value.len() < 16 => has_letters_and_digits(value) && !is_identifier(value),
        Style::Bare if value.len() < 12 => false,
        _ => is_random(value),
    }
}

/// Reports if the value looks random: not words, not an identifier.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if letters == 0 {
        return false;
    }
    let is_dense = entropy(value) >= 3.0;
    match digits {
        0 => is_dense && value.len() >= 16 && changes_of_case(value) * 3 >= value.len() && !is_camel(value),
        _ => is_dense && !(is_identifier(value) && digits <= 2) && !is_version(value),
    }
}

/// Returns the entropy in bits per byte.
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let all = value.len() as f64;
    let share = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

fn changes_of_case(value: &[u8]) -> usize {
    value.windows(2).filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()).count()
}

fn has_letters_and_digits(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Reports if every part is a word: `theNextThing`, `TheNextThing`.
fn is_camel(value: &[u8]) -> bool {
    let uppers = value.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    value.iter().all(u8::is_ascii_alphabetic) && uppers * 3 <= value.len()
}

/// Reports if the value consists of words joined by underscores, dashes or dots, each with at most a short number at
/// its end.
fn is_identifier(value: &[u8]) -> bool {
    let parts = value.split(|byte| b"_-.".contains(byte));
    let is_word = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let is_plain = letters >= 2 && part[1..letters].iter().all(u8::is_ascii_lowercase);
        let is_shouted = letters >= 2 && part[..letters].iter().all(u8::is_ascii_uppercase);
        (is_plain || is_shouted || letters == 0) && part.len() - letters <= 2
    };
    value.contains(&b'_') && parts.clone().all(is_word) || parts.clone().count() >= 3 && parts.clone().all(is_word)
}

/// Reports if the value is a version or a date: `1.2.3-rc4`, `2024-01-31T12:00:00Z`.
fn is_version(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    letters <= 4 && value.iter().any(|byte| b".:-".contains(byte)) && value.len() < 40
}

/// Reports if the value is a package version: `1.2.1`, `^4.0.0`, `>=2.1`. The name of the package may end like that of
/// a secret.
fn is_package_version(value: &[u8]) -> bool {
    let number = value.iter().position(|byte| !b"^~<>=v ".contains(byte)).map_or(&value[..0], |at| &value[at..]);
    let is_part = |byte: &u8| byte.is_ascii_digit() || b".x*".contains(byte);
    number.contains(&b'.') && number.len() <= 16 && number.iter().all(is_part)
}

/// Words that are used instead of a value.
#[rustfmt::skip]
const NO_VALUES: &[&str] = &[
    "null", "none", "nil", "true", "false", "undefined", "required", "optional", "string", "str", "text", "bytes",
    "number", "integer", "boolean", "object", "secret", "password", "passwd", "pass", "token", "key", "value", "changeme",
    "change_me", "change-me", "example", "test", "testing", "dummy", "fake", "placeholder", "redacted", "hidden", "masked",
    "default", "empty", "missing", "invalid", "incorrect", "expired", "wrong", "unknown", "error", "failed", "passed",
    "success", "enabled", "disabled", "todo", "stdin", "prompt", "file", "vault", "sensitive", "self", "user", "username",
    "mypassword", "mysecret", "foobar", "yourpassword", "p4ssw0rd-here", "api_key", "apikey", "api-key", "token-here",
    "key-here", "secret-key", "secret_key", "access_token", "user_password", "db_password", "const", "static", "public",
    "private", "protected", "readonly", "option", "char", "varchar", "password123-example", "n/a", "pass123-example",
];

/// Prefixes of values that refer to another value.
const STANDS_FOR: &[&str] = &[
    "$",
    "%(",
    "{{",
    "#{",
    "<",
    "[redacted",
    "your",
    "example",
    "insert",
    "enter-",
    "enter_",
    "replace",
    "env:",
    "vault:",
    "ref+",
    "arn:",
    "file:",
    "op://",
    "secret://",
    "process.env",
    "os.environ",
    "os.getenv",
    "system.getenv",
    "env[",
    "config.",
    "self.",
    "this.",
    "secrets.",
    "var.",
    "data.",
    "settings.",
    "****",
    "xxxx",
    "...",
    "…",
    "@",
    "!secret",
    "!ref",
    "!vault",
    "my-",
    "my_",
    "some-",
    "some_",
    "test-",
    "test_",
    "dummy",
    "fake-",
    "fake_",
    "sample",
    "placeholder",
];

/// Reports if the value is only a placeholder that a person or a program replaces later.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    let text = text.trim();
    let is_same = value.iter().all(|byte| Some(byte) == value.first());
    let has = |part: &str| text.contains(part);
    let is_template = has("${") || has("{{") || has("***") || has("$(") || has("<redacted") || has("[redacted");
    let is_variable = text.len() > 2 && text.starts_with('%') && text.ends_with('%');
    let is_braced = text.starts_with('{') && text.ends_with('}');
    is_same
        || is_template
        || is_variable
        || is_braced
        || has("placeholder")
        || has("-here")
        || has("_here")
        || NO_VALUES.contains(&text)
        || STANDS_FOR.iter().any(|start| text.starts_with(start))
}

/// Reports if the value is a path: `/run/secrets/db`, `./key.pem`, `C:\keys`.
fn is_path(value: &[u8]) -> bool {
    let is_file = [&b".pem"[..], b".key", b".txt", b".json", b".env", b".crt"].iter().any(|end| value.ends_with(end));
    let parts = value.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    let is_wordy = |part: &[u8]| part.len() < 20 && !(part.len() > 8 && is_random(part));
    let is_wordy = value.starts_with(b"/") && parts.clone().count() >= 1 && parts.clone().all(is_wordy);
    is_file || is_place(value) || (is_wordy && entropy(value) < 4.2)
}

/// The directories at the root of a file system, by which an absolute path is told from random characters that begin with
/// a slash.
#[rustfmt::skip]
const ROOTS: &[&str] = &[
    "__w", "actions-runner", "app", "applications", "azp", "bin", "bitrise", "boot", "builds", "cache", "code", "codebuild",
    "data", "dev", "drone", "etc", "export", "github", "gitlab", "go", "home", "host_mnt", "lib", "lib64", "library", "local",
    "media", "mnt", "net", "nfs", "nix", "opt", "private", "proc", "project", "projects", "repo", "repos", "root", "run", "sbin",
    "scratch", "shared", "snap", "source", "src", "srv", "storage", "sys", "system", "teamcity", "tmp", "usr", "users", "vagrant",
    "var", "volumes", "work", "workdir", "workspace", "workspaces", "www",
];

/// Reports if the value is certainly a place in a file system, whatever its directories are called.
pub(crate) fn is_place(value: &[u8]) -> bool {
    let is_relative = [&b"./"[..], b"../", b"~/"].iter().any(|root| value.starts_with(root));
    let is_drive = matches!(value, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    let first = value.strip_prefix(b"/").and_then(|rest| rest.split(|byte| *byte == b'/').next());
    let is_rooted = first.is_some_and(|first| ROOTS.iter().any(|root| first.eq_ignore_ascii_case(root.as_bytes())));
    is_relative || is_drive || is_rooted
}

/// Reports if the value is code: a call, a field, an index, a path of names, a type.
fn is_code(value: &[u8]) -> bool {
    let names = value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte)).count();
    let begins_as_name = value.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let next = value.get(names);
    let is_call = matches!(next, Some(b'(' | b'['))
        || [&b"::"[..], b"!(", b"!["].iter().any(|sign| value[names..].starts_with(sign));
    let is_type = matches!(next, Some(b'<' | b'?' | b'|')) && names >= 2;
    let dotted = &value[..names];
    let is_field = names == value.len() && dotted.contains(&b'.') && {
        let is_name =
            |part: &[u8]| part.first().is_some_and(u8::is_ascii_alphabetic) && part.len() < 24 && !is_random(part);
        dotted.split(|byte| *byte == b'.').all(is_name)
    };
    let is_operator = [&b"=="[..], b"=>", b"->", b"&&", b"||", b"&mut", b"&str", b"(", b"["]
        .iter()
        .any(|sign| value.starts_with(sign));
    is_operator || (begins_as_name && (is_call || is_type || is_field))
}

/// Reports if the value consists of several words: a label or a message.
fn is_prose(value: &[u8]) -> bool {
    let words = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let plain =
        words.clone().filter(|word| word.iter().all(|byte| byte.is_ascii_alphabetic() || b".,:;!?'".contains(byte)));
    let plain = plain.count();
    plain >= 3 && plain * 3 >= words.count() * 2
}

/// Reports if the value contains a word that names the content of a variable, or a word of a message.
fn has_telling_word(value: &[u8]) -> bool {
    const TELLING: [&str; 26] = [
        "password",
        "passwd",
        "secret",
        "token",
        "user",
        "name",
        "value",
        "input",
        "string",
        "field",
        "hash",
        "config",
        "self",
        "none",
        "param",
        "credential",
        "prompt",
        "account",
        "default",
        "change",
        "mismatch",
        "manager",
        "reset",
        "login",
        "invalid",
        "expire",
    ];
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    TELLING.iter().any(|word| text.contains(word))
}

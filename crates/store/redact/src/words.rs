//! Decides by its words if a name is that of a secret: `DB_PASSWORD`, `clientSecret`, `x-api-key`; not `token_count`.

/// The certainty that a name gives to the value beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Any value is secret, unless it is a placeholder.
    Password,
    /// The value is secret if it looks random.
    Token,
    /// A scheme followed by credentials.
    Authorization,
    /// Pairs of names and values.
    Cookie,
    /// A user and a password in base64.
    Basic,
}

/// The maximum length of a name that is examined.
pub(crate) const NAME_BYTES_MAX: usize = 128;

/// Returns the class of a name, and the kind that the mark names.
pub(crate) fn classify(name: &[u8]) -> Option<(Class, &'static str)> {
    let words = split(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (last, before) = words.split_last()?;
    let previous = before.last().copied().unwrap_or_default();
    match *last {
        "authorization" => Some((Class::Authorization, "authorization")),
        "cookie" | "cookies" => Some((Class::Cookie, "cookie")),
        "key" | "keys" if is_key(before) => Some((Class::Token, "key")),
        "token" if !NOT_TOKENS.contains(&previous) => Some((Class::Token, "token")),
        "pass" if !before.is_empty() && !NOT_PASSWORDS.contains(&previous) => Some((Class::Password, "password")),
        "pat" if !before.is_empty() => Some((Class::Token, "token")),
        "auth" if name.starts_with(b"_") => Some((Class::Token, "token")),
        "auth" => Some((Class::Basic, "credentials")),
        "sig" | "signature" => Some((Class::Token, "signature")),
        "psk" => Some((Class::Password, "password")),
        "credential" | "credentials" => Some((Class::Token, "credentials")),
        "secret" | "secrets" => Some((Class::Password, "secret")),
        // The working directory of a process, in every environment.
        "pwd" if name == b"PWD" => None,
        "pwd" | "pw" | "passcode" | "passphrase" | "parola" | "senha" => Some((Class::Password, "password")),
        word => by_end(word),
    }
}

/// Words before `token` that give it another meaning: a position in a list, a part of a text.
const NOT_TOKENS: [&str; 24] = [
    "next",
    "page",
    "continuation",
    "pad",
    "eos",
    "bos",
    "unk",
    "mask",
    "sep",
    "cls",
    "stop",
    "start",
    "end",
    "special",
    "each",
    "per",
    "unexpected",
    "expected",
    "sync",
    "cancellation",
    "cancel",
    "last",
    "first",
    "current",
];

/// Words before `pass` that make it the verb.
const NOT_PASSWORDS: [&str; 10] =
    ["tests", "test", "must", "to", "will", "first", "second", "render", "checks", "should"];

/// Words before `key` that make it a secret.
const SECRET_KEYS: [&str; 27] = [
    "api",
    "access",
    "secret",
    "private",
    "encryption",
    "encrypt",
    "signing",
    "sign",
    "account",
    "auth",
    "master",
    "shared",
    "subscription",
    "storage",
    "ssh",
    "deploy",
    "service",
    "license",
    "aes",
    "hmac",
    "jwt",
    "admin",
    "webhook",
    "functions",
    "host",
    "app",
    "session",
];

fn is_key(before: &[&str]) -> bool {
    let Some((previous, earlier)) = before.split_last() else { return false };
    // `ssh host key` and similar names are names of files or fingerprints.
    let is_public = earlier.contains(&"public") || (*previous == "host" && earlier.contains(&"ssh"));
    SECRET_KEYS.contains(previous) && !is_public
}

/// Classifies names that are written as one word.
fn by_end(word: &str) -> Option<(Class, &'static str)> {
    const ENDS: [(&str, Class, &str); 16] = [
        ("password", Class::Password, "password"),
        ("passwd", Class::Password, "password"),
        ("passwort", Class::Password, "password"),
        ("userpwd", Class::Password, "password"),
        ("dbpass", Class::Password, "password"),
        ("clientsecret", Class::Password, "secret"),
        ("apisecret", Class::Password, "secret"),
        ("apikey", Class::Token, "key"),
        ("secretkey", Class::Token, "key"),
        ("privatekey", Class::Token, "key"),
        ("accesskey", Class::Token, "key"),
        ("accountkey", Class::Token, "key"),
        ("authkey", Class::Token, "key"),
        ("authtoken", Class::Token, "token"),
        ("accesstoken", Class::Token, "token"),
        ("apitoken", Class::Token, "token"),
    ];
    ENDS.iter().find(|(end, _, _)| word.ends_with(end)).map(|(_, class, kind)| (*class, *kind))
}

/// Returns the words of a name in lower case, without trailing numbers.
fn split(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut previous = b'_';
    for (at, byte) in name.iter().copied().enumerate() {
        let next_is_lower = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let begins = byte.is_ascii_uppercase()
            && (previous.is_ascii_lowercase() || (previous.is_ascii_uppercase() && next_is_lower));
        if begins || !byte.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (byte.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(byte.to_ascii_lowercase().into());
        }
        previous = byte;
    }
    words.iter_mut().for_each(|word| word.truncate(word.trim_end_matches(|byte: char| byte.is_ascii_digit()).len()));
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinguished_by_their_words() {
        let secret = [
            "password",
            "DB_PASSWORD",
            "dbPassword",
            "client_secret",
            "clientSecret",
            "x-api-key",
            "APIKey",
            "apikey",
            "AWS_SECRET_ACCESS_KEY",
            "AccountKey",
            "GITHUB_TOKEN",
            "auth.token",
            "SMTP_PASS",
            "password2",
            "GITHUB_PAT",
        ];
        let other = [
            "token_count",
            "max_tokens",
            "next_token",
            "key",
            "primary_key",
            "cache-key",
            "public_key",
            "keyboard",
            "password_file",
            "tests_pass",
            "pass",
            "secretary",
            "author",
            "tokenizer",
            "key_id",
            "monkey",
            "PWD",
            "OLDPWD",
            "TOKENIZERS_PARALLELISM",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
            "PASSENGER",
            "GPG_KEY",
            "GIT_ASKPASS",
            "GNOME_KEYRING_CONTROL",
        ];
        for name in secret {
            assert!(classify(name.as_bytes()).is_some(), "{name}");
        }
        for name in other {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }
}

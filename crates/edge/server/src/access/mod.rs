//! Who may do what: tokens for programs, sessions for browsers, and the roles of both.
//!
//! A token or a session is 32 random bytes; the file `access.json` in the store keeps only its hash. `interlock token`
//! changes the file while a server runs, so the server reads it again when it has changed.

mod file;
mod rate;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use file::Token;
use file::{Access as Stored, AccessFile, Version};
pub(crate) use rate::Rate;

use crate::problem::{Problem, Result};

/// The time for which a browser stays logged in.
const SESSION_MS: i64 = 12 * 3_600 * 1_000;

/// The time for which a login code can be used.
const CODE_TIME: Duration = Duration::from_secs(600);

/// The most sessions that are kept; the oldest ones end first.
const SESSIONS_MAX: usize = 100;

/// The most login codes that are open at once.
const CODES_MAX: usize = 20;

/// The rights of a token or a session, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May read everything.
    Viewer,
    /// A program that works for a model: may also start runs, and send the events that a machine takes from other runs.
    /// It can never answer for a person.
    Agent,
    /// May also act as a person: answer, grant, pause, abort, fork and undo. An operator can execute code.
    Operator,
    /// May also manage tokens.
    Admin,
}

impl Role {
    /// Returns the name of the role.
    pub fn word(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Agent => "agent",
            Role::Operator => "operator",
            Role::Admin => "admin",
        }
    }
}

/// The owner of a token or a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name that records carry.
    pub name: String,
    /// The rights.
    pub role: Role,
}

/// The proof by which a request was admitted: the hash of a token or of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    Token([u8; 32]),
    Session([u8; 32]),
}

impl Proof {
    /// The proof of a request that carries this token.
    pub(crate) fn token(token: &str) -> Self {
        Proof::Token(hash_of(token))
    }

    /// The proof of a request that carries this session.
    pub(crate) fn session(session: &str) -> Self {
        Proof::Session(hash_of(session))
    }
}

/// The tokens and sessions of a store.
#[derive(Debug)]
pub struct Access {
    file: AccessFile,
    known: Mutex<Known>,
    codes: Mutex<HashMap<[u8; 32], (Instant, Identity)>>,
}

/// The content of the file when it was last read.
#[derive(Debug, Default)]
struct Known {
    stored: Stored,
    version: Option<Version>,
}

impl Access {
    /// Opens the tokens of the store in this directory.
    pub fn of_store(home: &Path) -> Self {
        let path: PathBuf = home.join("access.json");
        Access { file: AccessFile::new(path), known: Mutex::default(), codes: Mutex::default() }
    }

    /// Adds a token and returns it. Only its hash is stored, so it cannot be shown again.
    pub fn add_token(&self, name: &str, role: Role, days: Option<u32>) -> Result<String> {
        if !is_plain(name) {
            return Err(Problem::bad_input(format!("`{name}` is not a valid token name"))
                .hint("use letters, digits, `.`, `_` and `-`, and begin with a letter or digit"));
        }
        let (token, hash) = secret()?;
        let expires_ms = days.map(|days| now_ms() + i64::from(days) * 86_400_000);
        self.file.change(|stored| {
            if stored.tokens.iter().any(|token| token.name == name) {
                return Err(Problem::refused(format!("there is a token called `{name}` already"))
                    .hint(format!("remove it with `interlock token remove {name}`")));
            }
            let name = name.to_owned();
            stored.tokens.push(Token { name, role, hash, created_ms: now_ms(), expires_ms });
            Ok(())
        })?;
        Ok(token)
    }

    /// Removes a token; requests that use it fail from now on, and browsers that logged in under its name are logged
    /// out. Returns false if there is no such token.
    pub fn remove_token(&self, name: &str) -> Result<bool> {
        self.file.change(|stored| {
            let before = stored.tokens.len();
            stored.tokens.retain(|token| token.name != name);
            let is_removed = stored.tokens.len() < before;
            stored.sessions.retain(|session| !is_removed || session.name != name);
            Ok(is_removed)
        })
    }

    /// Returns all tokens, without their values.
    pub fn tokens(&self) -> Result<Vec<Token>> {
        Ok(self.file.read()?.tokens)
    }

    /// Makes a code that can be exchanged once for a session, within ten minutes.
    pub fn login_code(&self, identity: Identity) -> Result<String> {
        let (code, hash) = secret()?;
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|_, (made, _)| made.elapsed() < CODE_TIME);
        if codes.len() >= CODES_MAX {
            return Err(Problem::refused("too many login links are open; use one of them or wait ten minutes"));
        }
        codes.insert(hash, (Instant::now(), identity));
        Ok(code)
    }

    /// Exchanges a login code for a session.
    pub(crate) fn log_in(&self, code: &str) -> Result<Option<(String, Identity)>> {
        let found = self.codes.lock().unwrap_or_else(PoisonError::into_inner).remove(&hash_of(code));
        let Some((_, identity)) = found.filter(|(made, _)| made.elapsed() < CODE_TIME) else { return Ok(None) };
        self.begin_session(identity, None).map(Some)
    }

    /// Exchanges a token for a session, so that a browser need not keep the token. The session ends with the token.
    pub(crate) fn log_in_with_token(&self, token: &str) -> Result<Option<(String, Identity)>> {
        let Some(token) = self.find(Proof::token(token))? else { return Ok(None) };
        self.begin_session(Identity { name: token.name, role: token.role }, token.expires_ms).map(Some)
    }

    fn begin_session(&self, identity: Identity, ends_ms: Option<i64>) -> Result<(String, Identity)> {
        let (session, hash) = secret()?;
        let (name, role) = (identity.name.clone(), identity.role);
        let created_ms = now_ms();
        let expires_ms = Some(ends_ms.unwrap_or(i64::MAX).min(created_ms + SESSION_MS));
        self.file.change(|stored| {
            stored.sessions.retain(|session| session.is_valid(created_ms));
            let extra = (stored.sessions.len() + 1).saturating_sub(SESSIONS_MAX);
            stored.sessions.drain(..extra);
            stored.sessions.push(Token { name, role, hash, created_ms, expires_ms });
            Ok(())
        })?;
        Ok((session, identity))
    }

    /// Ends a session.
    pub(crate) fn log_out(&self, session: &str) -> Result<()> {
        let hash = hash_of(session);
        self.file.change(|stored| {
            stored.sessions.retain(|session| session.hash != hash);
            Ok(())
        })
    }

    /// Returns the owner of a token or a session; `None` if it is not known, has expired or was removed.
    pub(crate) fn owner(&self, proof: Proof) -> Result<Option<Identity>> {
        Ok(self.find(proof)?.map(|token| Identity { name: token.name, role: token.role }))
    }

    fn find(&self, proof: Proof) -> Result<Option<Token>> {
        let version = self.file.version();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if version.is_none() || known.version != version {
            *known = Known { stored: self.file.read()?, version };
        }
        let (among, hash) = match proof {
            Proof::Token(hash) => (&known.stored.tokens, hash),
            Proof::Session(hash) => (&known.stored.sessions, hash),
        };
        let now_ms = now_ms();
        // The hash of a random secret is compared, so the time of the comparison reveals nothing about the secret.
        Ok(among.iter().find(|token| token.hash == hash && token.is_valid(now_ms)).cloned())
    }
}

/// Returns 32 random bytes as text, and their hash.
fn secret() -> Result<(String, [u8; 32])> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Problem::failed(format!("the system has no random numbers: {error}")))?;
    let text = BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let hash = hash_of(&text);
    Ok((text, hash))
}

fn hash_of(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn is_plain(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    name.len() <= 60 && name.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { name: "ada".into(), role: Role::Operator }
    }

    #[test]
    fn a_token_is_known_until_it_is_removed_and_is_not_stored() {
        let home = tempfile::tempdir().unwrap();
        let (server, command) = (Access::of_store(home.path()), Access::of_store(home.path()));
        assert_eq!(server.owner(Proof::token("x")).unwrap(), None);
        let token = command.add_token("ci", Role::Viewer, None).unwrap();
        let found = server.owner(Proof::token(&token)).unwrap();
        assert_eq!(found, Some(Identity { name: "ci".into(), role: Role::Viewer }));
        let stored = std::fs::read_to_string(home.path().join("access.json")).unwrap();
        assert!(!stored.contains(&token));
        assert!(command.remove_token("ci").unwrap());
        assert_eq!(server.owner(Proof::token(&token)).unwrap(), None);
        assert!(!command.remove_token("ci").unwrap());
    }

    #[test]
    fn a_token_expires() {
        let home = tempfile::tempdir().unwrap();
        let access = Access::of_store(home.path());
        let token = access.add_token("old", Role::Admin, Some(0)).unwrap();
        assert_eq!(access.owner(Proof::token(&token)).unwrap(), None);
    }

    #[test]
    fn two_tokens_do_not_share_a_name() {
        let home = tempfile::tempdir().unwrap();
        let access = Access::of_store(home.path());
        access.add_token("ci", Role::Viewer, None).unwrap();
        assert!(access.add_token("ci", Role::Admin, None).is_err());
        assert!(access.add_token("../x", Role::Admin, None).is_err());
    }

    #[test]
    fn a_code_gives_one_session_that_survives_a_restart() {
        let home = tempfile::tempdir().unwrap();
        let access = Access::of_store(home.path());
        let code = access.login_code(identity()).unwrap();
        let (session, found) = access.log_in(&code).unwrap().unwrap();
        assert_eq!(found, identity());
        assert!(access.log_in(&code).unwrap().is_none(), "a code is used once");
        let restarted = Access::of_store(home.path());
        assert_eq!(restarted.owner(Proof::session(&session)).unwrap(), Some(identity()));
        assert_eq!(restarted.owner(Proof::token(&session)).unwrap(), None, "a session is no token");
        restarted.log_out(&session).unwrap();
        assert_eq!(access.owner(Proof::session(&session)).unwrap(), None);
    }
    #[test]
    fn a_session_ends_with_the_token_that_began_it() {
        let home = tempfile::tempdir().unwrap();
        let access = Access::of_store(home.path());
        let token = access.add_token("ci", Role::Operator, Some(90)).unwrap();
        let (session, _) = access.log_in_with_token(&token).unwrap().unwrap();
        assert!(access.owner(Proof::session(&session)).unwrap().is_some());
        access.remove_token("other").unwrap();
        assert!(access.owner(Proof::session(&session)).unwrap().is_some());
        access.remove_token("ci").unwrap();
        assert_eq!(access.owner(Proof::session(&session)).unwrap(), None);
    }

    #[test]
    fn a_session_does_not_outlive_its_token() {
        let home = tempfile::tempdir().unwrap();
        let access = Access::of_store(home.path());
        let soon_ms = now_ms() + 1_000;
        let identity = Identity { name: "ci".into(), role: Role::Viewer };
        access.begin_session(identity, Some(soon_ms)).unwrap();
        assert_eq!(access.file.read().unwrap().sessions[0].expires_ms, Some(soon_ms));
    }
}

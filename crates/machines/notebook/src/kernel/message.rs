//! The messages of the Jupyter protocol: signed lists of JSON objects.
//!
//! Contents stay JSON: a client that knows only the types it expects would lose the others.

use ring::hmac;
use serde_json::{Value as Json, json};

/// Separates the addresses of a message from its parts.
const DELIMITER: &[u8] = b"<IDS|MSG>";

/// The version of the protocol that requests announce.
const VERSION: &str = "5.3";

/// A received message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    /// The type of the message, such as `stream`.
    pub(crate) kind: String,
    /// The id of the request that it belongs to.
    pub(crate) parent: String,
    /// The content; null if it could not be read.
    pub(crate) content: Json,
}

/// The names and the key that the messages of one client carry.
#[derive(Debug)]
pub(crate) struct Session {
    id: String,
    secret: String,
    key: hmac::Key,
    count: u64,
}

impl Session {
    /// Creates a session with a random key.
    pub(crate) fn new() -> Result<Self, String> {
        let mut random = [0; 40];
        getrandom::fill(&mut random).map_err(|error| format!("could not get random bytes: {error}"))?;
        let (id, secret) = (hex(&random[..8]), hex(&random[8..]));
        Ok(Session { key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), id, secret, count: 0 })
    }

    /// Returns the key, for the connection file.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// Returns the id and the frames of a new request.
    pub(crate) fn request(&mut self, kind: &str, content: &Json) -> (String, Vec<Vec<u8>>) {
        self.count += 1;
        let id = format!("{}-{}", self.id, self.count);
        let header = json!({
            "msg_id": id, "session": self.id, "username": "interlock", "msg_type": kind, "version": VERSION, "date": "",
        });
        let parts = [header.to_string(), "{}".into(), "{}".into(), content.to_string()].map(String::into_bytes);
        let mut frames = vec![DELIMITER.to_vec(), hex(self.sign(&parts).as_ref()).into_bytes()];
        frames.extend(parts);
        (id, frames)
    }

    fn sign(&self, parts: &[Vec<u8>]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        parts.iter().for_each(|part| context.update(part));
        context.sign()
    }

    /// Reads a message. Returns `None` if it is not one or its signature is wrong.
    pub(crate) fn read(&self, frames: &[Vec<u8>]) -> Option<Message> {
        let at = frames.iter().position(|frame| frame == DELIMITER)?;
        let [signature, parts @ ..] = frames.get(at + 1..)? else { return None };
        let parts = parts.get(..4)?;
        if hex(self.sign(parts).as_ref()).as_bytes() != signature.as_slice() {
            return None;
        }
        let header = json_of(&parts[0]);
        Some(Message {
            kind: header["msg_type"].as_str()?.to_owned(),
            parent: json_of(&parts[1])["msg_id"].as_str().unwrap_or_default().to_owned(),
            content: json_of(&parts[3]),
        })
    }
}

/// Reads JSON. A program can print bytes that are not UTF-8; they are replaced.
fn json_of(bytes: &[u8]) -> Json {
    let lossy = || serde_json::from_str(&String::from_utf8_lossy(bytes)).unwrap_or_default();
    serde_json::from_slice(bytes).unwrap_or_else(|_| lossy())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_message_is_read_and_a_changed_one_is_not() {
        let mut session = Session::new().unwrap();
        let (id, mut frames) = session.request("stream", &json!({ "text": "ä" }));
        frames.insert(0, b"address".to_vec());
        let read = session.read(&frames).unwrap();
        assert_eq!((read.kind.as_str(), &read.content), ("stream", &json!({ "text": "ä" })));
        assert!(id.ends_with("-1"), "{id}");
        frames[6] = br#"{"text":"b"}"#.to_vec();
        assert_eq!(session.read(&frames), None);
        assert_eq!(session.read(&[]), None);
        assert_eq!(session.read(&[DELIMITER.to_vec()]), None);
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        assert_eq!(json_of(b"{\"text\":\"a\xffb\"}"), json!({ "text": "a\u{fffd}b" }));
        assert_eq!(json_of(b"nonsense"), Json::Null);
    }
}

//! Lines that a person types at the terminal while a run works.
//!
//! The terminal stays in line mode, so that Ctrl-C keeps its meaning and a read returns a whole line. Reading happens only
//! while a run is followed: a form reads the same terminal.

use std::io::{IsTerminal as _, Stdin, stdin};

use interlock_runtime::Offers;
use tokio::io::{Interest, unix::AsyncFd};

/// The longest line that is read.
const LINE_BYTES_MAX: usize = 4_096;

/// The field of an event that holds a message.
const TEXT: &str = "text";

/// Reads lines from the terminal.
pub(crate) struct Typed(Option<AsyncFd<Stdin>>);

impl Typed {
    /// Starts to listen, if standard input is a terminal.
    pub(crate) fn listen() -> Self {
        let is_terminal = stdin().is_terminal();
        Typed(is_terminal.then(|| AsyncFd::with_interest(stdin(), Interest::READABLE).ok()).flatten())
    }

    /// Makes a reader that never returns a line.
    pub(crate) fn deaf() -> Self {
        Typed(None)
    }

    /// Returns the next line without its end. It never returns if there is no terminal or it was closed.
    pub(crate) async fn line(&mut self) -> String {
        let Some(fd) = &self.0 else { return std::future::pending().await };
        let mut bytes = [0; LINE_BYTES_MAX];
        let read = match fd.readable().await {
            Ok(mut ready) => {
                let read = rustix::io::read(stdin(), &mut bytes);
                ready.clear_ready();
                read.unwrap_or(0)
            }
            Err(_) => 0,
        };
        if read == 0 {
            self.0 = None;
            return std::future::pending().await;
        }
        String::from_utf8_lossy(&bytes[..read]).trim().to_owned()
    }
}

/// Returns the event by which a person can send a message now: one whose only required field is a text.
pub(crate) fn message_event(offers: &Offers) -> Option<&str> {
    let takes_text = |data: &serde_json::Value| {
        data["required"].as_array().is_some_and(|fields| fields.len() == 1 && fields[0] == TEXT)
            && data["properties"][TEXT]["type"] == "string"
    };
    offers.events.iter().find(|offer| takes_text(&offer.data)).map(|offer| offer.event.as_str())
}

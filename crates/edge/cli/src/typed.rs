//! Lines that a person types at the terminal while a run works.
//!
//! The terminal stays in line mode, so that Ctrl-C keeps its meaning and a read returns a whole line. A line is read only while
//! a run is followed: a form reads the same terminal.

use std::io::{IsTerminal as _, stdin};

use interlock_runtime::Offers;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The longest line that is read.
const LINE_BYTES_MAX: usize = 4_096;

/// The field of an event that holds a message.
const TEXT: &str = "text";

/// Returns the line that a person has typed, without its end; `None` if there is none. It does not block.
pub(crate) fn line() -> Option<String> {
    let input = stdin();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut ready = [PollFd::new(&input, PollFlags::IN)];
    let is_ready = input.is_terminal() && poll(&mut ready, Some(&now)).is_ok_and(|count| count > 0);
    if !is_ready || !ready[0].revents().contains(PollFlags::IN) {
        return None;
    }
    let mut bytes = [0; LINE_BYTES_MAX];
    let read = rustix::io::read(&input, &mut bytes).ok().filter(|read| *read > 0)?;
    Some(String::from_utf8_lossy(&bytes[..read]).trim().to_owned())
}

/// Returns the event by which a person can send a message now: one whose only required field is a text.
pub(crate) fn message_event(offers: &Offers) -> Option<&str> {
    let takes_text = |data: &serde_json::Value| {
        data["required"].as_array().is_some_and(|fields| fields.len() == 1 && fields[0] == TEXT)
            && data["properties"][TEXT]["type"] == "string"
    };
    offers.events.iter().find(|offer| takes_text(&offer.data)).map(|offer| offer.event.as_str())
}

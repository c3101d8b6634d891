//! Orders that switch or reset a board: a program, an HTTP request, a line sent to a relay, or a line on the board's
//! console.

use std::{path::PathBuf, time::Duration};

use interlock_http::{Address, Client, Method, Request};
use interlock_sandbox::Network;
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpStream;

use super::{config::Board, console::Console};
use crate::{Bench, Trouble, expect::Expect, pattern::Pattern, stop::stoppable, tool::Tool};

/// The default time limit of an order.
const ORDER_SEC: u64 = 30;

/// The longest answer of a relay that is read.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// An order that acts on a board.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct BoardOrder {
    what: What,
    timeout: Duration,
}

#[derive(Clone, Debug)]
enum What {
    /// Runs a program; `{board}` and `{port}` are replaced.
    Program { words: Vec<String>, network: bool, write: Vec<PathBuf> },
    /// Sends an HTTP request.
    Request { url: String, method: Method, body: String },
    /// Sends a line to a TCP server and optionally waits for an answer.
    Line { address: String, send: String, expect: Option<Pattern> },
    /// Sends a line on the board's console.
    Console { send: String },
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Form {
    command: Option<Vec<String>>,
    network: bool,
    write: Vec<PathBuf>,
    url: Option<String>,
    method: Option<String>,
    body: String,
    tcp: Option<String>,
    send: Option<String>,
    expect: Option<Pattern>,
    timeout_sec: Option<u64>,
}

impl TryFrom<Value> for BoardOrder {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let form = match value {
            // The short form: the words of a command.
            Value::Array(_) => {
                let words = serde_json::from_value(value).map_err(|error| error.to_string())?;
                Form { command: Some(words), ..Form::default() }
            }
            other => serde_json::from_value(other).map_err(|error| error.to_string())?,
        };
        let timeout = Duration::from_secs(form.timeout_sec.unwrap_or(ORDER_SEC));
        Ok(BoardOrder { what: form.what()?, timeout })
    }
}

impl Form {
    fn what(self) -> Result<What, String> {
        match self {
            Form { command: Some(words), network, write, url: None, tcp: None, send: None, .. } => {
                match words.is_empty() {
                    true => Err("`command` is empty".to_owned()),
                    false => Ok(What::Program { words, network, write }),
                }
            }
            Form { command: None, url: Some(url), method, body, tcp: None, send: None, .. } => {
                Address::parse(&url).map_err(|why| format!("`url` {why}"))?;
                let method = method.unwrap_or_else(|| "GET".to_owned()).to_ascii_uppercase();
                let method =
                    method.parse().map_err(|_| format!("`method` is `{method}`, which is not an HTTP method"))?;
                Ok(What::Request { url, method, body })
            }
            Form { command: None, url: None, tcp: Some(address), send: Some(send), expect, .. } => {
                Ok(What::Line { address, send, expect })
            }
            Form { command: None, url: None, tcp: None, send: Some(send), .. } => Ok(What::Console { send }),
            _ => Err("must be one of: a list of words, `command`, `url`, `tcp` with `send`, or `send`".to_owned()),
        }
    }
}

impl BoardOrder {
    /// Executes the order. `console` is the board's console if it is already open.
    pub(crate) async fn carry_out(
        &self,
        bench: Bench<'_>,
        board: &Board,
        console: Option<&mut Console>,
    ) -> Result<(), Trouble> {
        match &self.what {
            What::Program { words, network, write } => {
                let words: Vec<_> = words.iter().map(|word| filled(word, bench, board)).collect();
                let mut tool = Tool::own(&words, self.timeout);
                tool.network = network.then_some(Network::On);
                tool.write.clone_from(write);
                tool.must(bench).await.map(drop)
            }
            What::Request { url, method, body } => {
                stoppable(bench, self.timeout, "the relay", request(url, method, body)).await
            }
            What::Line { address, send, expect } => {
                let work = line(address, send, expect.as_ref(), self.timeout);
                stoppable(bench, self.timeout, "the relay", work).await
            }
            What::Console { send } => {
                let work = async {
                    match console {
                        Some(console) => console.send(send).await,
                        None => Console::open(bench, board, None).await?.send(send).await,
                    }
                };
                stoppable(bench, self.timeout, "the console", work).await
            }
        }
    }

    /// Reports whether the order is a line on the console.
    pub(crate) fn is_on_console(&self) -> bool {
        matches!(self.what, What::Console { .. })
    }

    /// Checks that the program of the order is installed.
    pub(crate) fn check(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        match &self.what {
            What::Program { words, .. } => Tool::own(words, self.timeout).find(&bench.session.folder).map(drop),
            _ => Ok(()),
        }
    }
}

/// Replaces the placeholders in a word.
pub(crate) fn filled(word: &str, bench: Bench<'_>, board: &Board) -> String {
    let image = bench.session.image.as_ref().map(|image| image.display().to_string()).unwrap_or_default();
    let folder = bench.session.folder.display().to_string();
    let places = [("{image}", &*image), ("{port}", board.port()), ("{board}", &board.name), ("{folder}", &folder)];
    // The replacement works left to right, so that an inserted value is not scanned again.
    let (mut filled, mut rest) = (String::new(), word);
    while let Some((at, place, value)) =
        places.iter().filter_map(|(place, value)| Some((rest.find(place)?, place, value))).min()
    {
        filled.push_str(&rest[..at]);
        filled.push_str(value);
        rest = &rest[at + place.len()..];
    }
    filled + rest
}

async fn request(url: &str, method: &Method, body: &str) -> Result<(), Trouble> {
    let (address, path) = Address::parse(url).map_err(Trouble::environment)?;
    let request = Request::builder().method(method).uri(path).body(body.as_bytes().to_vec());
    let connection = Client::default().connect(&address).await.map_err(Trouble::environment)?;
    let response = connection.send(request.map_err(Trouble::environment)?).await;
    let mut response = response.map_err(Trouble::environment)?;
    let said = response.rest(ANSWER_BYTES_MAX).await.map_err(Trouble::environment)?;
    match response.status {
        200..300 => Ok(()),
        status => {
            let said = String::from_utf8_lossy(&said);
            let first: String = said.lines().next().unwrap_or_default().chars().take(200).collect();
            Err(Trouble::environment(format!("the relay at {} answered {status}: {first}", address.host)))
        }
    }
}

async fn line(address: &str, send: &str, expect: Option<&Pattern>, timeout: Duration) -> Result<(), Trouble> {
    let wrong = |why: String| Trouble::environment(format!("the relay at {address}: {why}"));
    let stream = TcpStream::connect(address).await.map_err(|error| wrong(error.to_string()))?;
    let mut relay = Expect::new(stream);
    relay.send(send.as_bytes()).await.map_err(|error| wrong(error.to_string()))?;
    match expect {
        Some(pattern) => {
            relay.wait_for(&[(**pattern).clone()], timeout).await.map(drop).map_err(|error| wrong(error.to_string()))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_has_exactly_one_form() {
        let read = |value: Value| serde_json::from_value::<BoardOrder>(value).map(|order| order.what);
        assert!(matches!(read(json!(["relay", "on"])), Ok(What::Program { .. })));
        assert!(matches!(read(json!({ "url": "http://relay/on" })), Ok(What::Request { method: Method::GET, .. })));
        assert!(matches!(read(json!({ "tcp": "relay:23", "send": "on\r\n" })), Ok(What::Line { .. })));
        assert!(matches!(read(json!({ "send": "reboot\n" })), Ok(What::Console { .. })));
        let both = json!({ "command": ["a"], "url": "http://relay" });
        for wrong in [json!([]), json!({}), json!({ "tcp": "relay:23" }), both, json!("on"), json!({ "sned": "x" })] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}

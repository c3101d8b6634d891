//! A headless Chromium, driven through the WebDriver protocol.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

/// The time limit of a step, for slow computers.
const STEP_MAX: Duration = Duration::from_secs(60);

/// The key of an element in answers of the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window or several.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts a browser. Returns `None` where none is installed, except where all parts are required.
    pub fn start() -> Option<Self> {
        crate::parts::belongs_here("a browser");
        let started = Command::new("chromedriver").arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let Ok(mut driver) = started else {
            crate::parts::missing("chromedriver (scripts/browser.sh)");
            return None;
        };
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
        let port = |line: String| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok();
        let port = lines.find_map(port).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Browser { driver, port, session: String::new() };
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-US"];
        let options = json!({ "args": arguments, "prefs": { "intl.accept_languages": "en-US" } });
        let wanted = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options } } });
        let made = browser.ask("POST", "/session", &wanted);
        browser.session = made["sessionId"].as_str().unwrap().to_owned();
        browser.act("POST", "/window/rect", json!({ "width": 1360, "height": 900 }));
        Some(browser)
    }

    /// Opens an address.
    pub fn open(&self, address: &str) {
        self.act("POST", "/url", json!({ "url": address }));
    }

    /// Opens one more window and goes to it. Returns the handle of the window before.
    pub fn open_window(&self) -> String {
        let before = self.act("GET", "/window", Json::Null).as_str().unwrap().to_owned();
        let made = self.act("POST", "/window/new", json!({ "type": "window" }));
        self.go_to_window(made["handle"].as_str().unwrap());
        before
    }

    /// Goes to a window.
    pub fn go_to_window(&self, handle: &str) {
        self.act("POST", "/window", json!({ "handle": handle }));
    }

    /// Returns the value of an expression on the page.
    pub fn value(&self, expression: &str) -> Json {
        let script = format!("return ({expression})");
        self.act("POST", "/execute/sync", json!({ "script": script, "args": [] }))
    }

    /// Runs statements on the page.
    pub fn script(&self, statements: &str) {
        self.act("POST", "/execute/sync", json!({ "script": statements, "args": [] }));
    }

    /// Runs statements on the page, and returns the value that they give to their last argument.
    pub fn script_later(&self, statements: &str) -> Json {
        self.act("POST", "/execute/async", json!({ "script": statements, "args": [] }))
    }

    /// Changes the size of the view, which may be smaller than a window can be.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        let command = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": size });
        self.act("POST", "/goog/cdp/execute", command);
    }

    /// Waits until an expression is true.
    pub fn until(&self, expression: &str) {
        let deadline = Instant::now() + STEP_MAX;
        while self.value(&format!("Boolean({expression})")) != true {
            let shown = || self.value("document.body.innerText");
            assert!(Instant::now() < deadline, "not within the time limit: {expression}\n{}", shown());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until an element of this selector contains a text.
    pub fn until_text(&self, selector: &str, text: &str) {
        let (selector, text) = (json!(selector), json!(text));
        self.until(&format!(
            "[...document.querySelectorAll({selector})].some((found) => found.textContent.includes({text}))"
        ));
    }

    /// Waits for a button or a link with this text within an element, and clicks it as a person does.
    pub fn click(&self, within: &str, text: &str) {
        let (within_json, text_json) = (json!(within), json!(text));
        let find = format!(
            "[...document.querySelectorAll({within_json})].flatMap((found) => [found, ...found.querySelectorAll('button, a, [role=option]')])\
             .find((found) => found.matches('button, a, [role=option]') && !found.disabled && found.textContent.includes({text_json}))"
        );
        self.retry(|| {
            self.until(&find);
            let element = self.value(&find);
            let id = element[ELEMENT].as_str().unwrap_or_default();
            self.try_act("POST", &format!("/element/{id}/click"), &json!({}))
        });
    }

    /// Waits for a button with this accessible name, and clicks it.
    pub fn click_labelled(&self, name: &str) {
        let find = format!("document.querySelector('button[aria-label=' + JSON.stringify({}) + ']')", json!(name));
        self.until(&find);
        self.script(&format!("{find}.click()"));
    }

    /// Waits for a field, empties it and types a text.
    pub fn fill(&self, selector: &str, text: &str) {
        self.retry(|| {
            self.until(&format!("document.querySelector({})", json!(selector)));
            let element = self.value(&format!("document.querySelector({})", json!(selector)));
            let id = element[ELEMENT].as_str().unwrap_or_default().to_owned();
            self.try_act("POST", &format!("/element/{id}/clear"), &json!({}))?;
            self.try_act("POST", &format!("/element/{id}/value"), &json!({ "text": text }))
        });
    }

    /// Presses the keys of a text one by one, whatever has the focus.
    pub fn press(&self, text: &str) {
        let keys: Vec<Json> = text
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() })))
            .collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": keys });
        self.act("POST", "/actions", json!({ "actions": [keyboard] }));
    }

    /// Repeats a step whose element was replaced or covered in the meantime.
    fn retry(&self, step: impl Fn() -> Result<Json, String>) {
        let deadline = Instant::now() + STEP_MAX;
        while let Err(problem) = step() {
            assert!(Instant::now() < deadline, "{problem}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn act(&self, method: &str, path: &str, body: Json) -> Json {
        self.try_act(method, path, &body).unwrap_or_else(|problem| panic!("{path}: {problem}"))
    }

    fn try_act(&self, method: &str, path: &str, body: &Json) -> Result<Json, String> {
        let value = self.ask(method, &format!("/session/{}{path}", self.session), body);
        match value["error"].as_str() {
            Some(_) => Err(value.to_string()),
            None => Ok(value),
        }
    }

    fn ask(&self, method: &str, path: &str, body: &Json) -> Json {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(STEP_MAX)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        // The driver keeps the connection open, so its answer ends where its length says.
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).unwrap() > 2 {
            let value = line.to_lowercase().strip_prefix("content-length:").and_then(|value| value.trim().parse().ok());
            length = value.unwrap_or(length);
            line.clear();
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let mut answer: Json = serde_json::from_slice(&answer).unwrap();
        answer["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser with the session.
        if !self.session.is_empty() {
            let _ = self.try_act("DELETE", "", &Json::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

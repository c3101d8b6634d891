//! What a profile says about its boards.
//!
//! What all of them have in common stands at the top; what is said for one of them in `boards` takes its place. A system with a management
//! controller is a board whose power and console are the controller's.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::order::Order;
use crate::{
    Trouble,
    bmc::Controller,
    fetch::Wanted,
    pattern::Pattern,
    settings::{Settings, several},
    ssh::Ssh,
};

/// How long flashing may take where nobody says.
const FLASH_SEC: u64 = 300;

/// One board.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    /// What it is called; the resource that is held.
    pub(crate) name: String,
    /// Its console.
    pub(crate) serial: Option<Serial>,
    /// Its network.
    pub(crate) ssh: Option<Ssh>,
    /// What manages it, in the place of its power.
    pub(crate) controller: Option<Controller>,
    /// Its power.
    pub(crate) power: Power,
    /// What resets it, where that is less than its power.
    pub(crate) reset: Option<Order>,
    /// What writes the image into it.
    pub(crate) flash: Option<Flash>,
    /// Where the image is copied to over SSH.
    pub(crate) image_path: Option<String>,
    /// What its console asks of somebody who comes, and what it is answered.
    pub(crate) login: Vec<Step>,
    /// What its console shows when it waits for a command.
    pub(crate) prompt: Option<Pattern>,
    /// What starts the tests, where the suite does not say; `{args}` is what they are told. Without any, a reset starts them.
    pub(crate) command: Option<String>,
    /// What is printed at the end, with the exit code as the group `code`.
    pub(crate) end: Option<Pattern>,
    /// What is printed when it starts.
    pub(crate) boot: Option<Pattern>,
    /// More starts than this within one are a boot loop.
    pub(crate) boots_max: u32,
    /// How long it may take to start.
    pub(crate) boot_time: Duration,
    /// How long it may print nothing.
    pub(crate) silence: Option<Duration>,
    /// What says that there was a fault, besides what is known of old.
    pub(crate) faults: Vec<Pattern>,
    /// Where the symbols are, within the sources, where the image has none.
    pub(crate) elf: Option<PathBuf>,
    /// What to fetch afterwards.
    pub(crate) logs: Vec<Wanted>,
    /// What else to fetch afterwards.
    pub(crate) artifacts: Vec<Wanted>,
    /// Files that tests write their results into.
    pub(crate) reports: Vec<String>,
}

/// A serial port, or a server for one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Serial {
    /// `/dev/ttyUSB0`, or `tcp://host:port`.
    pub(crate) port: String,
    /// Bits in a second.
    #[serde(default = "usual_baud")]
    pub(crate) baud: u32,
    /// Who says stop.
    #[serde(default)]
    pub(crate) flow: Flow,
}

/// Who says stop when there is too much to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Flow {
    #[default]
    None,
    Software,
    Hardware,
}

fn usual_baud() -> u32 {
    115_200
}

/// A question and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// What is asked.
    pub(crate) expect: Pattern,
    /// The answer, sent with a line's end.
    #[serde(default)]
    pub(crate) send: String,
    /// The variable that has the answer, where it is secret.
    pub(crate) send_env: Option<String>,
}

/// What switches it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Power {
    pub(crate) on: Option<Order>,
    pub(crate) off: Option<Order>,
    /// Off and on in one. Without it, one after the other.
    pub(crate) cycle: Option<Order>,
    /// How long it stays off.
    #[serde(default = "off_sec")]
    pub(crate) off_sec: u64,
}

fn off_sec() -> u64 {
    2
}

impl Power {
    /// Whether it can be switched off and on.
    pub(crate) fn cycles(&self) -> bool {
        self.cycle.is_some() || (self.on.is_some() && self.off.is_some())
    }
}

/// What writes an image into a board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flash {
    /// `{image}`, `{port}`, `{board}` and `{folder}` are put in.
    pub(crate) command: Vec<String>,
    #[serde(default = "flash_sec")]
    pub(crate) timeout_sec: u64,
    /// What it may change besides: devices.
    #[serde(default)]
    pub(crate) write: Vec<PathBuf>,
    /// Whether it talks to others.
    #[serde(default)]
    pub(crate) network: bool,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

fn flash_sec() -> u64 {
    FLASH_SEC
}

/// The boards of a profile.
pub(crate) fn boards(config: &Map<String, Value>) -> Result<Vec<Board>, Trouble> {
    several(config, "boards", |from| Board::read(from, false), |board| &board.name)
}

/// The systems of a profile that have a management controller.
pub(crate) fn managed(config: &Map<String, Value>) -> Result<Vec<Board>, Trouble> {
    several(config, "systems", |from| Board::read(from, true), |board| &board.name)
}

impl Board {
    fn read(mut from: Settings, is_managed: bool) -> Result<Self, Trouble> {
        let controller = if is_managed { Some(Controller::read(&mut from)?) } else { None };
        let (serial, ssh): (Option<Serial>, Option<Ssh>) = (from.take("serial")?, from.take("ssh")?);
        let name: Option<String> = from.take("name")?;
        let host = controller.as_ref().map(Controller::host);
        let port = serial.as_ref().map(|serial| serial.port.clone());
        let Some(called) = host.or(port).or(ssh.as_ref().map(|ssh| ssh.host.clone())) else {
            return Err(from.wrong("serial", "is missing, and so is `ssh`: a board has one or the other"));
        };
        let seconds = |read: Option<u64>| read.map(Duration::from_secs);
        let board = Board {
            name: name.unwrap_or(called),
            serial,
            ssh,
            controller,
            power: from.or("power", Power::default())?,
            reset: from.take("reset")?,
            flash: from.take("flash")?,
            image_path: from.take("image_path")?,
            login: from.or("login", Vec::new())?,
            prompt: from.take("prompt")?,
            command: from.take("command")?,
            end: from.take("end")?,
            boot: from.take("boot")?,
            boots_max: from.or("boots_max", 3)?,
            boot_time: Duration::from_secs(from.or("boot_sec", 60)?),
            silence: seconds(from.take("silence_sec")?),
            faults: from.or("faults", Vec::new())?,
            elf: from.take("elf")?,
            logs: from.or("logs", Vec::new())?,
            artifacts: from.or("artifacts", Vec::new())?,
            reports: from.or("reports", Vec::new())?,
        };
        board.check(&mut from);
        from.end()?;
        Ok(board)
    }

    /// What only fits together.
    fn check(&self, from: &mut Settings) {
        if let Some(Err(Trouble::Config { field, why })) = self.ssh.as_ref().map(|ssh| ssh.check("ssh")) {
            from.note(&field, why);
        }
        let needs_ssh = [("image_path", self.image_path.is_some()), ("reports", !self.reports.is_empty())];
        for (field, _) in needs_ssh.iter().filter(|(_, is_said)| *is_said && self.ssh.is_none()) {
            from.note(field, "needs `ssh`");
        }
        let power = &self.power;
        let orders = [&power.on, &power.off, &power.cycle, &self.reset];
        if self.controller.is_some() && orders.iter().any(|order| order.is_some()) {
            from.note("power", "and `reset` are what the controller does; leave them out");
        }
        if !self.login.is_empty() && self.prompt.is_none() {
            from.note("prompt", "is missing: with `login` it must be told when that is over");
        }
        if self.flash.as_ref().is_some_and(|flash| flash.command.is_empty()) {
            from.note("flash", "has an empty `command`");
        }
    }

    /// Whether its console can be listened to.
    pub(crate) fn has_console(&self) -> bool {
        self.serial.is_some() || self.controller.as_ref().is_some_and(|controller| controller.ipmi.is_some())
    }

    /// The port as programs that write images want to be told.
    pub(crate) fn port(&self) -> &str {
        self.serial.as_ref().map_or("", |serial| &serial.port)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn read(config: Value) -> Result<Vec<Board>, Trouble> {
        let Value::Object(config) = config else { panic!("a map") };
        boards(&config)
    }

    fn check(config: Value, expected: Expect) {
        expected.assert_eq(&read(config).unwrap_err().to_string());
    }

    #[test]
    fn boards_share_what_is_said_for_all_and_have_their_own() {
        let config = json!({
            "prompt": "# $", "baud": null, "login": [{ "expect": "login:", "send": "root" }],
            "boards": [
                { "name": "a", "serial": { "port": "/dev/ttyUSB0" } },
                { "serial": { "port": "tcp://rack:2001", "baud": 9600 }, "prompt": "> " },
            ],
        });
        let Value::Object(mut config) = config else { panic!("a map") };
        config.shift_remove("baud");
        let boards = boards(&config).unwrap();
        let shown: Vec<_> = boards.iter().map(|it| (it.name.as_str(), it.serial.as_ref().unwrap().baud)).collect();
        assert_eq!(shown, [("a", 115_200), ("tcp://rack:2001", 9_600)]);
        assert!(boards[0].prompt.as_ref().unwrap().is_match(b"\r\n~ # "));
        assert!(!boards[1].prompt.as_ref().unwrap().is_match(b"\r\n~ # "));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let serial = json!({ "port": "/dev/ttyUSB0" });
        check(
            json!({}),
            expect!["`test_profile.config.serial` is missing, and so is `ssh`: a board has one or the other"],
        );
        check(
            json!({ "serial": { "baud": 9600 } }),
            expect!["`test_profile.config.serial` cannot be used: missing field `port`"],
        );
        check(
            json!({ "serial": serial, "promt": "# " }),
            expect![
                "`test_profile.config.promt` is not known; known are serial, ssh, name, power, reset, flash, image_path, login, prompt, command, end, boot, boots_max, boot_sec, silence_sec, faults, elf, logs, artifacts, reports"
            ],
        );
        check(
            json!({ "serial": serial, "end": "(" }),
            expect![[r#"`test_profile.config.end` cannot be used: is no pattern: unclosed group"#]],
        );
        check(
            json!({ "serial": serial, "image_path": "/tmp/fw" }),
            expect!["`test_profile.config.image_path` needs `ssh`"],
        );
        check(
            json!({ "serial": serial, "end": "(", "boots_max": "many", "image_path": "/tmp/fw" }),
            expect![[
                r#"`test_profile.config.end` cannot be used: is no pattern: unclosed group; `test_profile.config.boots_max` cannot be used: invalid type: string "many", expected u32; `test_profile.config.image_path` needs `ssh`"#
            ]],
        );
        check(
            json!({ "boards": [{ "name": "a", "serial": serial }, { "name": "a", "serial": serial }] }),
            expect!["`test_profile.config.boards` has two that are called `a`"],
        );
        check(
            json!({ "boards": [{ "ssh": { "host": "-oProxyCommand=id" } }] }),
            expect!["`test_profile.config.boards.0.ssh.host` is `-oProxyCommand=id`, which is no host"],
        );
        check(
            json!({ "serial": serial, "power": { "on": { "url": "ftp://relay" } } }),
            expect!["`test_profile.config.power` cannot be used: `url` is to begin with http:// or https://"],
        );
    }
}

//! The settings of a profile's boards.
//!
//! Common settings stand at the top level; settings of one board in `boards` override them. A system with a
//! management controller is a board whose power and console belong to the controller.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::order::BoardOrder;
use crate::{
    Trouble,
    bmc::Controller,
    fetch::Wanted,
    pattern::Pattern,
    settings::{Settings, several},
    ssh::Ssh,
};

/// The default time limit for flashing.
const FLASH_SEC: u64 = 300;

/// The settings of one board.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    /// The board's name, which is also the name of the resource that a run holds.
    pub(crate) name: String,
    /// The serial console, if any.
    pub(crate) serial: Option<Serial>,
    /// The SSH access, if any.
    pub(crate) ssh: Option<Ssh>,
    /// The management controller, which replaces the power commands.
    pub(crate) controller: Option<Controller>,
    /// The commands that switch the board's power.
    pub(crate) power: Power,
    /// The order that resets the board without a power cycle.
    pub(crate) reset: Option<BoardOrder>,
    /// The command that writes the image to the board.
    pub(crate) flash: Option<Flash>,
    /// The path on the board to which the image is copied over SSH.
    pub(crate) image_path: Option<String>,
    /// The questions of a login on the console, with their answers.
    pub(crate) login: Vec<Step>,
    /// The prompt that the console shows when it waits for a command.
    pub(crate) prompt: Option<Pattern>,
    /// The command that starts the tests if the suite names none; `{args}` is replaced by the start's arguments.
    /// Without a command, a reset starts the tests.
    pub(crate) command: Option<String>,
    /// The pattern of the last line, with the exit code as the group `code`.
    pub(crate) end: Option<Pattern>,
    /// The pattern that the board prints when it boots.
    pub(crate) boot: Option<Pattern>,
    /// The number of boots within one start above which it is a boot loop.
    pub(crate) boots_max: u32,
    /// The longest time that a boot may take.
    pub(crate) boot_time: Duration,
    /// The longest time without output.
    pub(crate) silence: Option<Duration>,
    /// Patterns of faults, in addition to the built-in ones.
    pub(crate) faults: Vec<Pattern>,
    /// The ELF file with the symbols, relative to the sources, if the image has none.
    pub(crate) elf: Option<PathBuf>,
    /// The logs to fetch after the run.
    pub(crate) logs: Vec<Wanted>,
    /// The artifacts to fetch after the run.
    pub(crate) artifacts: Vec<Wanted>,
    /// The files on the board into which tests write their results.
    pub(crate) reports: Vec<String>,
}

/// A serial port, or the address of a serial port server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Serial {
    /// A device such as `/dev/ttyUSB0`, or `tcp://host:port`.
    pub(crate) port: String,
    /// The baud rate in bits per second.
    #[serde(default = "usual_baud")]
    pub(crate) baud: u32,
    /// The flow control of the port.
    #[serde(default)]
    pub(crate) flow: Flow,
}

/// The methods of flow control.
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

/// A login question and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// The pattern of the question.
    pub(crate) expect: Pattern,
    /// The answer, sent with a line break.
    #[serde(default)]
    pub(crate) send: String,
    /// The name of the variable that contains a secret answer.
    pub(crate) send_env: Option<String>,
}

/// The orders that switch the board's power.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Power {
    pub(crate) on: Option<BoardOrder>,
    pub(crate) off: Option<BoardOrder>,
    /// Switches off and on in one order. Without it, `off` and `on` run one after the other.
    pub(crate) cycle: Option<BoardOrder>,
    /// The number of seconds that the board stays off.
    #[serde(default = "off_sec")]
    pub(crate) off_sec: u64,
}

fn off_sec() -> u64 {
    2
}

impl Power {
    /// Reports whether the board can be switched off and on.
    pub(crate) fn cycles(&self) -> bool {
        self.cycle.is_some() || (self.on.is_some() && self.off.is_some())
    }
}

/// The command that writes an image to a board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flash {
    /// The program and its arguments. `{image}`, `{port}`, `{board}` and `{folder}` are replaced.
    pub(crate) command: Vec<String>,
    #[serde(default = "flash_sec")]
    pub(crate) timeout_sec: u64,
    /// Additional paths that the command may write, such as devices.
    #[serde(default)]
    pub(crate) write: Vec<PathBuf>,
    /// True if the command needs the network.
    #[serde(default)]
    pub(crate) network: bool,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

fn flash_sec() -> u64 {
    FLASH_SEC
}

/// Reads the boards of a profile.
pub(crate) fn boards(config: &Map<String, Value>) -> Result<Vec<Board>, Trouble> {
    several(config, "boards", |from| Board::read(from, false), |board| &board.name)
}

/// Reads the systems of a profile that have a management controller.
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

    /// Checks the combination of settings.
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
            from.note("prompt", "is missing: with `login` the end of the login must be recognisable");
        }
        if self.flash.as_ref().is_some_and(|flash| flash.command.is_empty()) {
            from.note("flash", "has an empty `command`");
        }
    }

    /// Reports whether the board has a console.
    pub(crate) fn has_console(&self) -> bool {
        self.serial.is_some() || self.controller.as_ref().is_some_and(|controller| controller.ipmi.is_some())
    }

    /// Returns the port in the form that flash programs expect.
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
    fn boards_inherit_common_settings_and_override_them() {
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
    fn unusable_settings_are_reported() {
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
                "`test_profile.config.promt` is not known; the fields are serial, ssh, name, power, reset, flash, image_path, login, prompt, command, end, boot, boots_max, boot_sec, silence_sec, faults, elf, logs, artifacts, reports"
            ],
        );
        check(
            json!({ "serial": serial, "end": "(" }),
            expect![[r#"`test_profile.config.end` cannot be used: is not a pattern: unclosed group"#]],
        );
        check(
            json!({ "serial": serial, "image_path": "/tmp/fw" }),
            expect!["`test_profile.config.image_path` needs `ssh`"],
        );
        check(
            json!({ "serial": serial, "end": "(", "boots_max": "many", "image_path": "/tmp/fw" }),
            expect![[
                r#"`test_profile.config.end` cannot be used: is not a pattern: unclosed group; `test_profile.config.boots_max` cannot be used: invalid type: string "many", expected u32; `test_profile.config.image_path` needs `ssh`"#
            ]],
        );
        check(
            json!({ "boards": [{ "name": "a", "serial": serial }, { "name": "a", "serial": serial }] }),
            expect!["`test_profile.config.boards` has two with the name `a`"],
        );
        check(
            json!({ "boards": [{ "ssh": { "host": "-oProxyCommand=id" } }] }),
            expect!["`test_profile.config.boards.0.ssh.host` is `-oProxyCommand=id`, which is not a host"],
        );
        check(
            json!({ "serial": serial, "power": { "on": { "url": "ftp://relay" } } }),
            expect!["`test_profile.config.power` cannot be used: `url` must begin with http:// or https://"],
        );
    }
}

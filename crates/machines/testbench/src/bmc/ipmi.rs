//! Accesses a management controller over IPMI with the program `ipmitool`. The password is passed in its environment,
//! never in its arguments.

use std::time::{Duration, Instant};

use interlock_process::Tell;
use interlock_sandbox::Network;
use serde::Deserialize;

use super::reading::{Event, SensorReading};
use crate::{Bench, Trouble, tool::Tool};

const PACKAGE: &str = "ipmitool";

/// The time limit of one command.
const COMMAND_MAX: Duration = Duration::from_secs(60);

/// The interval at which the power state is polled.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The boot sources by their Redfish names, with the names of `ipmitool`.
const BOOT: [(&str, &str); 6] =
    [("pxe", "pxe"), ("hdd", "disk"), ("cd", "cdrom"), ("biossetup", "bios"), ("floppy", "floppy"), ("diags", "diag")];

/// The address and the credentials of a controller.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ipmi {
    pub(crate) host: String,
    #[serde(default = "usual_port")]
    port: u16,
    username: Option<String>,
    /// The name of the variable that contains the password.
    password_env: Option<String>,
    /// The IPMI cipher suite; `ipmitool` has a default.
    cipher_suite: Option<u8>,
}

fn usual_port() -> u16 {
    623
}

impl Ipmi {
    /// Checks that the settings are usable.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        match self.host.is_empty() || self.host.starts_with('-') {
            true => Err(Trouble::config("ipmi.host", format!("is `{}`, which is not a host", self.host))),
            false => Ok(()),
        }
    }

    /// Checks that `ipmitool` is installed.
    pub(crate) fn installed(bench: Bench<'_>) -> Result<(), Trouble> {
        Tool::new("ipmitool", PACKAGE, COMMAND_MAX).find(&bench.session.folder).map(drop)
    }

    /// Returns the arguments with which every command begins.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut all = ["-I", "lanplus", "-H", &self.host, "-p"].map(str::to_owned).to_vec();
        all.push(self.port.to_string());
        if let Some(username) = &self.username {
            all.extend(["-U".to_owned(), username.clone()]);
        }
        if let Some(suite) = self.cipher_suite {
            all.extend(["-C".to_owned(), suite.to_string()]);
        }
        if self.password_env.is_some() {
            all.push("-E".to_owned());
        }
        all
    }

    /// Returns the variable that passes the password to `ipmitool`.
    pub(crate) fn secret(&self) -> Result<Option<(String, String)>, Trouble> {
        let Some(name) = &self.password_env else { return Ok(None) };
        let password = std::env::var(name).map_err(|_| {
            Trouble::config("ipmi.password_env", format!("names the variable {name}, which is not set"))
        })?;
        Ok(Some(("IPMI_PASSWORD".to_owned(), password)))
    }

    async fn command(&self, bench: Bench<'_>, words: &[&str]) -> Result<String, Trouble> {
        let words = words.iter().map(|word| (*word).to_owned());
        let mut tool = Tool::new("ipmitool", PACKAGE, COMMAND_MAX).args(self.arguments()).args(words);
        tool.env.extend(self.secret()?);
        (tool.network, tool.tell) = (Some(Network::On), Tell::Nothing);
        Ok(tool.must(bench).await?.text())
    }

    /// Returns the power state, `On` or `Off`.
    pub(crate) async fn power(&self, bench: Bench<'_>) -> Result<String, Trouble> {
        let said = self.command(bench, &["chassis", "power", "status"]).await?;
        Ok(if said.trim_end().ends_with(" on") { "On" } else { "Off" }.to_owned())
    }

    /// Switches the power and waits until the state is reached.
    pub(crate) async fn switch(&self, bench: Bench<'_>, is_on: bool, limit: Duration) -> Result<(), Trouble> {
        let (word, state) = if is_on { ("on", "On") } else { ("off", "Off") };
        if self.power(bench).await? == state {
            return Ok(());
        }
        self.command(bench, &["chassis", "power", word]).await?;
        let begun = Instant::now();
        while self.power(bench).await? != state {
            if begun.elapsed() > limit {
                return Err(Trouble::environment(format!("its power is not {word} after {} seconds", limit.as_secs())));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Resets the system without switching it off. Returns false if it is off or cannot be reset.
    pub(crate) async fn reset(&self, bench: Bench<'_>) -> Result<bool, Trouble> {
        if self.power(bench).await? == "Off" {
            return Ok(false);
        }
        match self.command(bench, &["chassis", "power", "reset"]).await {
            Ok(_) => Ok(true),
            Err(Trouble::Environment(_)) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Sets the boot source for the next boot.
    pub(crate) async fn boot_from(&self, bench: Bench<'_>, wanted: &str) -> Result<(), Trouble> {
        let known = BOOT.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, word)| *word);
        let word = known.ok_or_else(|| {
            let all = BOOT.map(|(name, _)| name).join(", ");
            Trouble::config("boot_from", format!("is `{wanted}`; over IPMI a system can boot from {all}"))
        })?;
        self.command(bench, &["chassis", "bootdev", word]).await.map(drop)
    }

    /// Returns the readings of all sensors.
    pub(crate) async fn sensors(&self, bench: Bench<'_>) -> Result<Vec<SensorReading>, Trouble> {
        Ok(self.command(bench, &["-c", "sdr", "list"]).await?.lines().filter_map(reading).collect())
    }

    /// Returns the entries of the event log, oldest first.
    pub(crate) async fn events(&self, bench: Bench<'_>) -> Result<Vec<Event>, Trouble> {
        Ok(self.command(bench, &["-c", "sel", "elist"]).await?.lines().filter_map(event).collect())
    }

    /// Closes a console session that may have been left open.
    pub(crate) async fn free_console(&self, bench: Bench<'_>) {
        // If no session is active, `ipmitool` reports an error, which is ignored.
        let _ = self.command(bench, &["sol", "deactivate"]).await;
    }
}

/// Parses a sensor row such as `Ambient,23.000,degrees C,ok`.
fn reading(line: &str) -> Option<SensorReading> {
    let mut cells = line.split(',').map(str::trim);
    let (name, value, unit, health) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    Some(SensorReading {
        name: name.to_owned(),
        value: value.parse().ok(),
        unit: unit.to_owned(),
        health: health.to_owned(),
    })
}

/// Parses an event row such as `1,11/15/2026,14:00:01,Temperature Ambient,Upper Critical going high,Asserted`.
fn event(line: &str) -> Option<Event> {
    let cells: Vec<_> = line.split(',').map(str::trim).collect();
    let [_, date, time, rest @ ..] = cells.as_slice() else { return None };
    Some(Event { at: format!("{date} {time}"), severity: String::new(), message: rest.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipmitool_rows_are_parsed_and_other_lines_skipped() {
        let ambient = reading("Ambient,23.000,degrees C,ok").unwrap();
        assert_eq!((ambient.value, ambient.is_bad()), (Some(23.0), false));
        let fan = reading("Fan 1,0,RPM,cr").unwrap();
        assert!(fan.is_bad());
        assert_eq!(reading("Presence,0x01,discrete,ok").unwrap().value, None);
        assert_eq!(reading("no table"), None);
        let event = event("1,11/15/2026,14:00:01,Temperature Ambient,Upper Critical going high,Asserted").unwrap();
        assert_eq!(event.line(), "11/15/2026 14:00:01 [] Temperature Ambient, Upper Critical going high, Asserted\n");
    }
}

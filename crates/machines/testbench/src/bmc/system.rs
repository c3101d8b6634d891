//! Operations on a system over Redfish: power, boot source, virtual media, sensors, event log and console.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    reading::{Event, SensorReading},
    redfish::{Asking, link},
};
use crate::Trouble;

/// The interval at which the power state is polled.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The reset types that lead to a power state, in order of preference.
const ON: [&str; 2] = ["On", "ForceOn"];
const OFF: [&str; 2] = ["ForceOff", "GracefulShutdown"];
const RESET: [&str; 3] = ["ForceRestart", "GracefulRestart", "PowerCycle"];

/// The assumed reset types if the controller lists none.
const USUAL: [&str; 4] = ["On", "ForceOff", "ForceRestart", "GracefulShutdown"];

impl Asking<'_> {
    /// Returns the power state: `On`, `Off`, or one in between.
    async fn power(&self) -> Result<String, Trouble> {
        let system = self.system().await?;
        Ok(system["PowerState"].as_str().unwrap_or("unknown").to_owned())
    }

    /// Returns the power state and the ways to reach the console.
    pub(crate) async fn summary(&self) -> Result<String, Trouble> {
        let (power, consoles) = (self.power().await?, self.consoles().await?.join(", "));
        Ok(if consoles.is_empty() { power } else { format!("{power}, console by {consoles}") })
    }

    /// Resets the system. Switches its power off and on if `from_off` is set or a reset is not possible. Returns true
    /// if it was only reset.
    pub(crate) async fn restart(&self, from_off: bool, limit: Duration) -> Result<bool, Trouble> {
        if !from_off && self.reset().await? {
            return Ok(true);
        }
        self.switch(&OFF, "Off", limit).await?;
        self.switch(&ON, "On", limit).await?;
        Ok(false)
    }

    /// Switches the system on and waits until it is on.
    pub(crate) async fn switch_on(&self, limit: Duration) -> Result<(), Trouble> {
        self.switch(&ON, "On", limit).await
    }

    async fn switch(&self, ways: &[&str], state: &str, limit: Duration) -> Result<(), Trouble> {
        let system = self.system().await?;
        if system["PowerState"] == state {
            return Ok(());
        }
        self.reset_by(&system, ways).await?;
        let begun = Instant::now();
        loop {
            let power = self.power().await?;
            if power == state {
                return Ok(());
            }
            if begun.elapsed() > limit {
                let seconds = limit.as_secs();
                return Err(Trouble::environment(format!(
                    "its power is `{power}` after {seconds} seconds, not `{state}`"
                )));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Resets the system without switching it off; returns false if that is not possible.
    async fn reset(&self) -> Result<bool, Trouble> {
        let system = self.system().await?;
        if system["PowerState"] != "On" || !self.resets(&system).await?.iter().any(|way| RESET.contains(&way.as_str()))
        {
            return Ok(false);
        }
        self.reset_by(&system, &RESET).await?;
        Ok(true)
    }

    async fn reset_by(&self, system: &Value, ways: &[&str]) -> Result<(), Trouble> {
        let allowed = self.resets(system).await?;
        let way = ways.iter().find(|way| allowed.iter().any(|allowed| allowed == *way)).ok_or_else(|| {
            Trouble::environment(format!("it can do none of {}; it can do {}", ways.join(", "), allowed.join(", ")))
        })?;
        let target = system["Actions"]["#ComputerSystem.Reset"]["target"].as_str();
        let target = target.ok_or_else(|| Trouble::environment("it cannot be reset"))?;
        self.post(target, &json!({ "ResetType": way })).await
    }

    /// Returns the reset types that the system lists.
    async fn resets(&self, system: &Value) -> Result<Vec<String>, Trouble> {
        let action = &system["Actions"]["#ComputerSystem.Reset"];
        let mut allowed = texts(&action["ResetType@Redfish.AllowableValues"]);
        if allowed.is_empty()
            && let Some(info) = action["@Redfish.ActionInfo"].as_str()
        {
            let info = self.found(info).await?.unwrap_or_default();
            let parameters = info["Parameters"].as_array().into_iter().flatten();
            let mut kinds = parameters.filter(|parameter| parameter["Name"] == "ResetType");
            allowed = kinds.next().map(|kind| texts(&kind["AllowableValues"])).unwrap_or_default();
        }
        if allowed.is_empty() {
            allowed = USUAL.map(str::to_owned).into();
        }
        Ok(allowed)
    }

    /// Sets the boot source for the next boot.
    pub(crate) async fn boot_from(&self, wanted: &str) -> Result<(), Trouble> {
        let system = self.system().await?;
        let allowed = texts(&system["Boot"]["BootSourceOverrideTarget@Redfish.AllowableValues"]);
        let target = match allowed.iter().find(|known| known.eq_ignore_ascii_case(wanted)) {
            Some(target) => target.as_str(),
            None if allowed.is_empty() => wanted,
            None => {
                let known = allowed.join(", ");
                return Err(Trouble::config("boot_from", format!("is `{wanted}`; it can boot from {known}")));
            }
        };
        let path = system["@odata.id"].as_str().unwrap_or_default();
        let boot = json!({ "BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": target });
        self.patch(path, &json!({ "Boot": boot })).await
    }

    /// Inserts an image into the system's drive and replaces the present one.
    pub(crate) async fn insert(&self, image: &str, device: &str) -> Result<(), Trouble> {
        let drive = self.drive(device).await?;
        if drive["Inserted"] == true {
            self.act(&drive, "#VirtualMedia.EjectMedia", &json!({})).await?;
        }
        let medium = json!({ "Image": image, "Inserted": true, "WriteProtected": true });
        self.act(&drive, "#VirtualMedia.InsertMedia", &medium).await
    }

    /// Ejects the medium of the system's drive.
    pub(crate) async fn eject(&self, device: &str) -> Result<(), Trouble> {
        let drive = self.drive(device).await?;
        match drive["Inserted"] == true {
            true => self.act(&drive, "#VirtualMedia.EjectMedia", &json!({})).await,
            false => Ok(()),
        }
    }

    async fn act(&self, resource: &Value, action: &str, body: &Value) -> Result<(), Trouble> {
        let target = resource["Actions"][action]["target"].as_str();
        let target = target.ok_or_else(|| Trouble::environment(format!("its drive has no {action}")))?;
        self.post(target, body).await
    }

    /// Returns the drive for a kind of medium. Some controllers list the drives under the system, some under its
    /// manager.
    async fn drive(&self, device: &str) -> Result<Value, Trouble> {
        let system = self.system().await?;
        let mut drives = Vec::new();
        for owner in self.with_managers(system).await? {
            if let Some(path) = link(&owner, "VirtualMedia") {
                drives.extend(self.members(path).await?);
            }
        }
        let is_it = |drive: &&Value| {
            let kinds = texts(&drive["MediaTypes"]).into_iter().chain(drive["Id"].as_str().map(str::to_owned));
            kinds.into_iter().any(|kind| kind.eq_ignore_ascii_case(device))
        };
        drives
            .iter()
            .find(is_it)
            .cloned()
            .ok_or_else(|| Trouble::config("media.device", format!("is `{device}`; the controller has no such drive")))
    }

    /// Returns the system and its managers.
    async fn with_managers(&self, system: Value) -> Result<Vec<Value>, Trouble> {
        let managers = links(&system["Links"]["ManagedBy"]);
        let mut all = vec![system];
        for manager in managers {
            all.extend(self.found(&manager).await?);
        }
        Ok(all)
    }

    /// Returns the readings of all sensors.
    pub(crate) async fn sensors(&self) -> Result<Vec<SensorReading>, Trouble> {
        let system = self.system().await?;
        let mut all = Vec::new();
        for chassis in links(&system["Links"]["Chassis"]) {
            let Some(chassis) = self.found(&chassis).await? else { continue };
            if let Some(sensors) = link(&chassis, "Sensors") {
                all.extend(self.members(sensors).await?.iter().map(SensorReading::sensor));
            }
            for (field, groups) in [("Thermal", ["Temperatures", "Fans"]), ("Power", ["Voltages", "PowerControl"])] {
                let Some(path) = link(&chassis, field) else { continue };
                let Some(page) = self.found(path).await? else { continue };
                let rows = groups.iter().flat_map(|group| page[group].as_array().into_iter().flatten());
                all.extend(rows.map(SensorReading::row));
            }
        }
        Ok(all)
    }

    /// Returns the entries of the event logs, oldest first.
    pub(crate) async fn events(&self) -> Result<Vec<Event>, Trouble> {
        let system = self.system().await?;
        let mut all = Vec::new();
        for owner in self.with_managers(system).await? {
            let Some(services) = link(&owner, "LogServices") else { continue };
            for service in self.members(services).await? {
                let Some(entries) = link(&service, "Entries") else { continue };
                all.extend(self.members(entries).await?.iter().map(Event::entry));
            }
        }
        all.sort_by(|one, other| one.at.cmp(&other.at));
        Ok(all)
    }

    /// Returns the enabled ways to reach the console, as the system lists them.
    async fn consoles(&self) -> Result<Vec<String>, Trouble> {
        let system = self.system().await?;
        let mut found = Vec::new();
        for (kind, settings) in system["SerialConsole"].as_object().into_iter().flatten() {
            if settings["ServiceEnabled"] == true {
                let port = settings["Port"].as_u64().map(|port| format!(" at port {port}")).unwrap_or_default();
                found.push(format!("{kind}{port}"));
            }
        }
        Ok(found)
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

fn links(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|it| it["@odata.id"].as_str().map(str::to_owned)).collect()
}

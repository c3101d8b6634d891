//! A management controller that speaks Redfish, IPMI or both. If it speaks both, Redfish is preferred, and the
//! console uses IPMI.

use interlock_beneath::whole;
use std::{path::Path, time::Duration};

use serde::Deserialize;

use super::{
    ipmi::Ipmi,
    reading::{Event, SensorReading},
    redfish::Redfish,
};
use crate::{Bench, Trouble, board::Flash, settings::Settings};

/// A controller with its settings for deploying an image.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    redfish: Option<Redfish>,
    /// IPMI access, which also provides the console.
    pub(crate) ipmi: Option<Ipmi>,
    /// The command that publishes an image at a place from which the controller can fetch it.
    pub(crate) publish: Option<Flash>,
    media: Option<Media>,
    boot_from: Option<String>,
    /// The longest time that a power change may take.
    limit: Duration,
}

/// A virtual medium.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Media {
    /// The URL from which the controller fetches the image.
    url: String,
    /// The kind of drive, for example `CD`.
    #[serde(default = "usual_device")]
    device: String,
}

fn usual_device() -> String {
    "CD".to_owned()
}

impl Controller {
    /// Takes the controller's settings out of a profile.
    pub(crate) fn read(from: &mut Settings) -> Result<Self, Trouble> {
        let controller = Controller {
            redfish: from.take("redfish")?,
            ipmi: from.take("ipmi")?,
            publish: from.take("publish")?,
            media: from.take("media")?,
            boot_from: from.take("boot_from")?,
            limit: Duration::from_secs(from.or("power_sec", 120)?),
        };
        if controller.redfish.is_none() && controller.ipmi.is_none() {
            return Err(from.wrong("redfish", "is missing, and so is `ipmi`: a controller needs one of them"));
        }
        if controller.media.is_some() && controller.redfish.is_none() {
            return Err(from.wrong("media", "needs `redfish`"));
        }
        controller.redfish.as_ref().map_or(Ok(()), Redfish::check)?;
        controller.ipmi.as_ref().map_or(Ok(()), Ipmi::check)?;
        Ok(controller)
    }

    /// Returns the controller's host, which is the default name of the system.
    pub(crate) fn host(&self) -> String {
        let host =
            self.redfish.as_ref().map(Redfish::host).or_else(|| self.ipmi.as_ref().map(|ipmi| ipmi.host.clone()));
        host.unwrap_or_default()
    }

    /// Checks that the controller answers, and returns its power state and failing sensors.
    pub(crate) async fn seen(&self, bench: Bench<'_>) -> Result<String, Trouble> {
        let power = match (&self.redfish, &self.ipmi) {
            (Some(redfish), _) => {
                let asking = redfish.ask(bench).await?;
                let seen = asking.summary().await;
                asking.leave().await;
                seen?
            }
            (None, Some(ipmi)) => ipmi.power(bench).await?,
            (None, None) => return Err(nobody()),
        };
        let bad: Vec<_> = self.sensors(bench).await?.into_iter().filter(SensorReading::is_bad).collect();
        let bad: String = bad.iter().map(|it| format!("; {} is {}", it.name, it.health)).collect();
        Ok(format!("its controller answers, power is {power}{bad}"))
    }

    /// Checks that the required programs are installed, and switches the system on.
    pub(crate) async fn setup(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        if self.ipmi.is_some() {
            Ipmi::installed(bench)?;
        }
        match (&self.redfish, &self.ipmi) {
            (Some(redfish), _) => {
                let asking = redfish.ask(bench).await?;
                let done = asking.switch_on(self.limit).await;
                asking.leave().await;
                done
            }
            (None, Some(ipmi)) => ipmi.switch(bench, true, self.limit).await,
            (None, None) => Err(nobody()),
        }
    }

    /// Resets the system. Switches its power off and on if `from_off` is set or a reset is not possible.
    pub(crate) async fn restart(&self, bench: Bench<'_>, from_off: bool) -> Result<&'static str, Trouble> {
        self.boot_from(bench).await?;
        let was_reset = match (&self.redfish, &self.ipmi) {
            (Some(redfish), _) => {
                let asking = redfish.ask(bench).await?;
                let done = asking.restart(from_off, self.limit).await;
                asking.leave().await;
                done?
            }
            (None, Some(ipmi)) if !from_off && ipmi.reset(bench).await? => true,
            (None, Some(ipmi)) => {
                ipmi.switch(bench, false, self.limit).await?;
                ipmi.switch(bench, true, self.limit).await?;
                false
            }
            (None, None) => return Err(nobody()),
        };
        Ok(if was_reset { "it was reset" } else { "its power was switched off and on" })
    }

    /// Inserts the configured medium.
    pub(crate) async fn insert(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let (Some(redfish), Some(media)) = (&self.redfish, &self.media) else { return Ok(()) };
        let asking = redfish.ask(bench).await?;
        let done = asking.insert(&media.url, &media.device).await;
        asking.leave().await;
        done
    }

    /// Sets the boot source for the next boot only.
    async fn boot_from(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let Some(target) = &self.boot_from else { return Ok(()) };
        match (&self.redfish, &self.ipmi) {
            (Some(redfish), _) => {
                let asking = redfish.ask(bench).await?;
                let done = asking.boot_from(target).await;
                asking.leave().await;
                done
            }
            (None, Some(ipmi)) => ipmi.boot_from(bench, target).await,
            (None, None) => Err(nobody()),
        }
    }

    /// Ejects the configured medium.
    pub(crate) async fn tidy(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let (Some(redfish), Some(media)) = (&self.redfish, &self.media) else { return Ok(()) };
        let asking = redfish.ask(bench).await?;
        let done = asking.eject(&media.device).await;
        asking.leave().await;
        done
    }

    /// Writes the controller's data to files: the event log among the logs, the sensors among the artifacts.
    pub(crate) async fn fetch(&self, bench: Bench<'_>, folder: &Path, into: &str) -> Result<(), Trouble> {
        if into == "logs" {
            let events: String = self.events(bench).await?.iter().map(Event::line).collect();
            return Ok(whole::write(folder.join("events.log"), events)?);
        }
        let sensors = serde_json::to_vec_pretty(&self.sensors(bench).await?).map_err(Trouble::environment)?;
        Ok(whole::write(folder.join("sensors.json"), sensors)?)
    }

    /// Returns the readings of all sensors.
    async fn sensors(&self, bench: Bench<'_>) -> Result<Vec<SensorReading>, Trouble> {
        match (&self.redfish, &self.ipmi) {
            (Some(redfish), _) => {
                let asking = redfish.ask(bench).await?;
                let sensors = asking.sensors().await;
                asking.leave().await;
                sensors
            }
            (None, Some(ipmi)) => ipmi.sensors(bench).await,
            (None, None) => Err(nobody()),
        }
    }

    /// Returns the entries of the event log.
    async fn events(&self, bench: Bench<'_>) -> Result<Vec<Event>, Trouble> {
        match (&self.redfish, &self.ipmi) {
            (Some(redfish), _) => {
                let asking = redfish.ask(bench).await?;
                let events = asking.events().await;
                asking.leave().await;
                events
            }
            (None, Some(ipmi)) => ipmi.events(bench).await,
            (None, None) => Err(nobody()),
        }
    }
}

fn nobody() -> Trouble {
    Trouble::config("redfish", "is missing")
}

//! A management controller, whichever language it speaks. Where it speaks both, Redfish is preferred, and the console comes over IPMI.

use std::{path::Path, time::Duration};

use serde::Deserialize;

use super::{
    ipmi::Ipmi,
    reading::{Event, Reading},
    redfish::Redfish,
};
use crate::{Bench, Trouble, board::Flash, settings::Settings};

/// A controller, and what it is to do with an image.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    redfish: Option<Redfish>,
    /// Also the way to the console.
    pub(crate) ipmi: Option<Ipmi>,
    /// What brings an image to where the controller can fetch it.
    pub(crate) publish: Option<Flash>,
    media: Option<Media>,
    boot_from: Option<String>,
    /// How long switching may take.
    limit: Duration,
}

/// A medium that is only pretended.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Media {
    /// Where the controller fetches the image.
    url: String,
    /// The kind of drive.
    #[serde(default = "usual_device")]
    device: String,
}

fn usual_device() -> String {
    "CD".to_owned()
}

impl Controller {
    /// Takes out of a profile what is about the controller.
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
            return Err(from.wrong("redfish", "is missing, and so is `ipmi`: a controller speaks one or the other"));
        }
        if controller.media.is_some() && controller.redfish.is_none() {
            return Err(from.wrong("media", "needs `redfish`"));
        }
        controller.redfish.as_ref().map_or(Ok(()), Redfish::check)?;
        controller.ipmi.as_ref().map_or(Ok(()), Ipmi::check)?;
        Ok(controller)
    }

    /// What it is called where nobody says.
    pub(crate) fn host(&self) -> String {
        let host =
            self.redfish.as_ref().map(Redfish::host).or_else(|| self.ipmi.as_ref().map(|ipmi| ipmi.host.clone()));
        host.unwrap_or_default()
    }

    /// Whether it answers, and what it says of itself.
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
        let bad: Vec<_> = self.sensors(bench).await?.into_iter().filter(Reading::is_bad).collect();
        let bad: String = bad.iter().map(|it| format!("; {} is {}", it.name, it.health)).collect();
        Ok(format!("its controller answers, power is {power}{bad}"))
    }

    /// Looks whether all it takes is there, and switches the system on.
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

    /// Resets the system; from nothing where `from_off`, or where there is no other way.
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

    /// Puts the medium in.
    pub(crate) async fn insert(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let (Some(redfish), Some(media)) = (&self.redfish, &self.media) else { return Ok(()) };
        let asking = redfish.ask(bench).await?;
        let done = asking.insert(&media.url, &media.device).await;
        asking.leave().await;
        done
    }

    /// Says what to boot from. That holds for one boot.
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

    /// Takes the medium out.
    pub(crate) async fn tidy(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let (Some(redfish), Some(media)) = (&self.redfish, &self.media) else { return Ok(()) };
        let asking = redfish.ask(bench).await?;
        let done = asking.eject(&media.device).await;
        asking.leave().await;
        done
    }

    /// What it knows, as files: its event log with the logs, its sensors with the artifacts.
    pub(crate) async fn fetch(&self, bench: Bench<'_>, folder: &Path, into: &str) -> Result<(), Trouble> {
        if into == "logs" {
            let events: String = self.events(bench).await?.iter().map(Event::line).collect();
            return Ok(std::fs::write(folder.join("events.log"), events)?);
        }
        let sensors = serde_json::to_vec_pretty(&self.sensors(bench).await?).map_err(Trouble::environment)?;
        Ok(std::fs::write(folder.join("sensors.json"), sensors)?)
    }

    /// All that its sensors say.
    async fn sensors(&self, bench: Bench<'_>) -> Result<Vec<Reading>, Trouble> {
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

    /// What it has written down.
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

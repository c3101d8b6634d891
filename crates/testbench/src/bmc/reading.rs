//! What sensors and event logs say, in one form for Redfish and IPMI.

use serde::Serialize;
use serde_json::Value;

/// What a sensor says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Reading {
    pub(crate) name: String,
    /// Nothing where it says nothing.
    pub(crate) value: Option<f64>,
    pub(crate) unit: String,
    /// `OK`, or what is wrong.
    pub(crate) health: String,
}

/// Something that a controller has written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Event {
    /// As the controller writes times.
    pub(crate) at: String,
    pub(crate) severity: String,
    pub(crate) message: String,
}

impl Reading {
    /// A row of the older pages, whose fields are named after what is measured.
    pub(crate) fn row(row: &Value) -> Self {
        let fields = [
            ("ReadingCelsius", "Cel"),
            ("ReadingVolts", "V"),
            ("PowerConsumedWatts", "W"),
            ("Reading", row["ReadingUnits"].as_str().unwrap_or_default()),
        ];
        let found = fields.iter().find_map(|(field, unit)| Some((row[field].as_f64()?, *unit)));
        let name = row["Name"].as_str().or(row["FanName"].as_str()).unwrap_or_default();
        Reading {
            name: name.to_owned(),
            value: found.map(|(value, _)| value),
            unit: found.map(|(_, unit)| unit.to_owned()).unwrap_or_default(),
            health: health(row),
        }
    }

    /// A sensor with a page of its own.
    pub(crate) fn sensor(sensor: &Value) -> Self {
        Reading {
            name: sensor["Name"].as_str().unwrap_or_default().to_owned(),
            value: sensor["Reading"].as_f64(),
            unit: sensor["ReadingUnits"].as_str().unwrap_or_default().to_owned(),
            health: health(sensor),
        }
    }

    /// Whether something is wrong there.
    pub(crate) fn is_bad(&self) -> bool {
        !["OK", "ok", "ns", ""].contains(&self.health.as_str())
    }
}

fn health(of: &Value) -> String {
    of["Status"]["Health"].as_str().unwrap_or_default().to_owned()
}

impl Event {
    /// An entry of a log.
    pub(crate) fn entry(entry: &Value) -> Self {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        Event { at: text("Created"), severity: text("Severity"), message: text("Message") }
    }

    /// In one line.
    pub(crate) fn line(&self) -> String {
        format!("{} [{}] {}\n", self.at, self.severity, self.message)
    }
}

//! Sensor readings and log events in one form for Redfish and IPMI.

use serde::Serialize;
use serde_json::Value;

/// The reading of a sensor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SensorReading {
    pub(crate) name: String,
    /// `None` if the sensor gives no number.
    pub(crate) value: Option<f64>,
    pub(crate) unit: String,
    /// `OK`, or the name of the problem.
    pub(crate) health: String,
}

/// An entry of a controller's event log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Event {
    /// The time in the controller's notation.
    pub(crate) at: String,
    pub(crate) severity: String,
    pub(crate) message: String,
}

impl SensorReading {
    /// Reads a row of the older `Thermal` and `Power` resources, whose fields are named after the measured quantity.
    pub(crate) fn row(row: &Value) -> Self {
        let fields = [
            ("ReadingCelsius", "Cel"),
            ("ReadingVolts", "V"),
            ("PowerConsumedWatts", "W"),
            ("Reading", row["ReadingUnits"].as_str().unwrap_or_default()),
        ];
        let found = fields.iter().find_map(|(field, unit)| Some((row[field].as_f64()?, *unit)));
        let name = row["Name"].as_str().or(row["FanName"].as_str()).unwrap_or_default();
        SensorReading {
            name: name.to_owned(),
            value: found.map(|(value, _)| value),
            unit: found.map(|(_, unit)| unit.to_owned()).unwrap_or_default(),
            health: health(row),
        }
    }

    /// Reads a sensor resource.
    pub(crate) fn sensor(sensor: &Value) -> Self {
        SensorReading {
            name: sensor["Name"].as_str().unwrap_or_default().to_owned(),
            value: sensor["Reading"].as_f64(),
            unit: sensor["ReadingUnits"].as_str().unwrap_or_default().to_owned(),
            health: health(sensor),
        }
    }

    /// Reports whether the sensor indicates a problem.
    pub(crate) fn is_bad(&self) -> bool {
        !["OK", "ok", "ns", ""].contains(&self.health.as_str())
    }
}

fn health(of: &Value) -> String {
    of["Status"]["Health"].as_str().unwrap_or_default().to_owned()
}

impl Event {
    /// Reads an entry of a Redfish log.
    pub(crate) fn entry(entry: &Value) -> Self {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        Event { at: text("Created"), severity: text("Severity"), message: text("Message") }
    }

    /// Formats the event as one line.
    pub(crate) fn line(&self) -> String {
        format!("{} [{}] {}\n", self.at, self.severity, self.message)
    }
}

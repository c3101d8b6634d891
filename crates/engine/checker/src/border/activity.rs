//! The names of activities and of the signals they end with.

use interlock_chart::{Catalogue, Chart, Diagnostic, catalogue::Entry, model::Invoke, yaml::unknown_signal_fields};
use interlock_suggest::did_you_mean;

use super::Outside;

/// The field by which a machine renames the signals of an activity.
const RENAMED: &str = "signals";

/// Returns the catalogue entry of an activity. An unknown activity is an error unless the machine declares it as
/// manual.
pub(super) fn known<'c>(invoke: &Invoke, catalogue: &'c Catalogue, found: &mut Vec<Diagnostic>) -> Option<&'c Entry> {
    let entry = catalogue.get(&invoke.activity);
    if entry.is_none() && !invoke.manual {
        let message = format!("there is no activity `{}`", invoke.activity);
        let hint = did_you_mean(&invoke.activity, catalogue.names()).unwrap_or_else(|| {
            "`interlock activities` lists them; with `manual: true` a person reports the result instead".to_owned()
        });
        found.push(Diagnostic::error("E0701", invoke.span, message).hint(hint));
    }
    entry
}

/// Reports signals that the activity never ends with.
pub(super) fn signals(chart: &Chart, invoke: &Invoke, entry: &Entry, found: &mut Vec<Diagnostic>) {
    if entry.signals.is_empty() || super::field(invoke, RENAMED).is_some() {
        return;
    }
    for signal in &invoke.signals {
        let name = &chart.event(signal.event).name;
        if !entry.signals.iter().any(|(known, _)| known == name) {
            let message = format!("`{}` never ends with `{name}`", invoke.activity);
            let names: Vec<&str> = entry.signals.iter().map(|(known, _)| known.as_str()).collect();
            let known = || format!("it ends with {}", names.join(", "));
            let hint = did_you_mean(name, names.iter().copied()).unwrap_or_else(known);
            found.push(Diagnostic::error("E0705", invoke.span, message).hint(hint));
        }
    }
}

/// Reports reads of fields that the data of a signal never has.
pub(super) fn fields(chart: &Chart, outside: &Outside<'_>, found: &mut Vec<Diagnostic>) {
    let data = |invoke: &Invoke, signal: &str| {
        let mut data = outside.catalogue.get(&invoke.activity)?.data(signal)?.clone();
        if let (Some(started), Some(output)) = (outside.started(invoke), data.pointer_mut("/properties/output")) {
            *output = started.output.clone();
        }
        Some(data)
    };
    found.extend(unknown_signal_fields(chart, &data));
}

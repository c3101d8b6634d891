//! The names of activities and of the signals they end with.

use interlock_chart::{Catalogue, Chart, Diagnostic, catalogue::Entry, model::Invoke};
use interlock_suggest::did_you_mean;

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
        if !entry.signals.contains(name) {
            let message = format!("`{}` never ends with `{name}`", invoke.activity);
            let known = || format!("it ends with {}", entry.signals.join(", "));
            let hint = did_you_mean(name, entry.signals.iter().map(String::as_str)).unwrap_or_else(known);
            found.push(Diagnostic::error("E0705", invoke.span, message).hint(hint));
        }
    }
}

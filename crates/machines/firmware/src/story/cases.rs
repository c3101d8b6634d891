//! The results: every case and every figure, before and after.

use interlock_activity::report::{
    Part,
    reading::{list, text},
};
use interlock_chart::counted;
use serde_json::{Map, Value as Json};

use super::Facts;

impl Facts {
    /// Every case that did not pass both times, and the number of those that did.
    pub(super) fn before_and_after(&self) -> Vec<Part> {
        let rows = self.cases();
        let same = rows.iter().filter(|row| row[1] == "passed" && row[2] == "passed").count();
        let shown: Vec<Vec<String>> =
            rows.iter().filter(|row| row[1] != "passed" || row[2] != "passed").cloned().collect();
        let mut parts: Vec<Part> = Part::table(&["case", "before", "after"], shown).into_iter().collect();
        if same > 0 {
            let same = counted(same, "more case passed before and passes now", "more cases passed before and pass now");
            parts.push(Part::Text(format!("{same}.")));
        }
        parts
    }

    /// The cases of a run that measured nothing after the baseline.
    pub(super) fn as_found(&self) -> Vec<Part> {
        let rows = self.cases().into_iter().map(|row| row[..2].to_vec());
        let (same, shown): (Vec<_>, Vec<_>) = rows.partition(|row| row[1] == "passed");
        let mut parts: Vec<Part> = Part::table(&["case", "as it was found"], shown).into_iter().collect();
        if !same.is_empty() {
            parts.push(Part::Text(format!("{}.", counted(same.len(), "case passes", "cases pass"))));
        }
        parts
    }

    pub(super) fn cases(&self) -> Vec<Vec<String>> {
        let before = statuses(&self.baseline["measured"]);
        let after = statuses(&self.result);
        let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
        names.sort();
        names.dedup();
        let of = |map: &Map<String, Json>, name: &str| map.get(name).map_or("–".to_owned(), text);
        names.iter().map(|name| vec![(*name).clone(), of(&before, name), of(&after, name)]).collect()
    }

    pub(super) fn figures(&self) -> Vec<Part> {
        let (before, after) = (&self.baseline["measured"]["metrics"], &self.result["metrics"]);
        let last = if self.is_measured_again() { after } else { before };
        let thresholds = &self.input["constraints"]["metrics"];
        // A figure that was not measured violates its threshold, so it gets a row.
        let named = |of: &Json| of.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let unmeasured = named(thresholds).into_iter().filter(|name| last[name].is_null());
        let names = named(last).into_iter().chain(unmeasured);
        let row = |name: String| {
            let held = threshold(&thresholds[&name]);
            match self.is_measured_again() {
                true => vec![name.clone(), figure(&before[&name]), figure(&after[&name]), held],
                false => vec![name.clone(), figure(&before[&name]), held],
            }
        };
        let head = match self.is_measured_again() {
            true => &["figure", "before", "after", "threshold"][..],
            false => &["figure", "as it was found", "threshold"],
        };
        Part::table(head, names.map(row).collect()).into_iter().collect()
    }

    pub(super) fn similar(&self) -> Vec<Part> {
        let rows = list(&self.context["similar"]).map(|one| {
            // Older runs record the number of times in a field of its own.
            let often = one["times"].as_u64().filter(|times| *times > 1).map(|times| format!(" ({times} times)"));
            let came = text(&one["result"]) + &often.unwrap_or_default();
            vec![text(&one["id"]), text(&one["title"]), came]
        });
        Part::table(&["entry", "subject", "result"], rows.collect()).into_iter().collect()
    }
}

fn statuses(measured: &Json) -> Map<String, Json> {
    list(&measured["cases"]).map(|case| (text(&case["case_id"]), case["status"].clone())).collect()
}

/// A figure without decimals that say nothing, because most figures are counts.
fn figure(value: &Json) -> String {
    value.as_f64().map_or_else(|| text(value), |number| number.to_string())
}

/// A threshold in words.
fn threshold(said: &Json) -> String {
    let known = [
        ("max", "at most ", ""),
        ("min", "at least ", ""),
        ("rise_max_percent", "at most ", " % more than before"),
        ("fall_max_percent", "at most ", " % less than before"),
    ];
    let words = known.iter().filter(|(name, ..)| !said[*name].is_null());
    words.map(|(name, before, after)| format!("{before}{}{after}", text(&said[*name]))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::threshold;

    #[test]
    fn thresholds_have_words() {
        let check = |said, expected| assert_eq!(threshold(&said), expected);
        check(json!({ "max": 8192 }), "at most 8192");
        check(json!({ "rise_max_percent": 20 }), "at most 20 % more than before");
        check(json!({ "min": 3, "fall_max_percent": 2.5 }), "at least 3, at most 2.5 % less than before");
        check(json!(null), "");
    }
}

//! Measures the proof of the five built-in machines: guards, timers, user events and all properties, without a cache.

use std::{path::Path, time::Instant};

use interlock_chart::library;
use interlock_checker::{Options, check};

use crate::{Result, size};

const MACHINES: [&str; 5] = ["firmware", "coder", "prd", "brain", "notebook"];

/// Prints one line per machine and the total.
pub(crate) fn report() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines");
    let mut total_ms = 0.0;
    for name in MACHINES.into_iter().take(size(MACHINES.len(), 1)) {
        let source = library::load(name, &root).map_err(|error| format!("{name}: {error:?}"))?;
        let chart = source.read().chart.ok_or_else(|| format!("{name} cannot be read"))?;
        let begin = Instant::now();
        let report = check(chart.into(), &Options::default());
        let took_ms = begin.elapsed().as_secs_f64() * 1000.0;
        if !report.ok {
            return Err(format!("{name} is not proved").into());
        }
        total_ms += took_ms;
        let (configurations, ways) = (report.total.configurations, report.total.ways);
        println!("check    {took_ms:>8.0} ms for {name}: {configurations} configurations, {ways} ways");
    }
    println!("check    {total_ms:>8.0} ms for all five (wanted 3,000)");
    Ok(())
}

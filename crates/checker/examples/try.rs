//! Checks machine files given by path and prints what was found.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]
use std::sync::Arc;
fn main() {
    for path in std::env::args().skip(1) {
        let source = std::fs::read_to_string(&path).unwrap();
        let reading = interlock_chart::yaml::read(&source);
        for d in &reading.diagnostics {
            println!("{path}: {} {}", d.code, d.message);
        }
        let Some(chart) = reading.chart else { continue };
        let start = std::time::Instant::now();
        let report = interlock_checker::check(Arc::new(chart), &Default::default());
        println!(
            "== {} ok={} explored={} exact={} in {:?}\n   bound {:?}\n   run {:?}\n   waits {:?}",
            report.machine,
            report.ok,
            report.explored,
            report.exact,
            start.elapsed(),
            report.bound,
            report.run_bound,
            report.waits
        );
        for p in &report.properties {
            println!("  [{}] {}", if p.ok { "ok" } else { "NO" }, p.name);
            if let Some(c) = &p.counterexample {
                println!("{c}");
            }
        }
        for p in &report.problems {
            println!("  {} {} line {}", p.code, p.message, source[..p.span.start as usize].lines().count());
            if let Some(c) = &p.counterexample {
                println!("{c}");
            }
        }
    }
}

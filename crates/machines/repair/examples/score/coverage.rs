//! Measures the lines that each case executes: one boot per case, in which QEMU logs every instruction on its first
//! execution.
//!
//! Nothing is instrumented, and a crash loses no data.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::{fs, thread};

use interlock_repair::{Coverage, Failure, Named};

use crate::bench::{Bench, Output};

/// The result of the measurement.
pub(crate) struct Measured {
    pub(crate) coverage: Vec<Coverage>,
    pub(crate) named: Vec<Named>,
    pub(crate) failures: Vec<Failure>,
}

/// Boots every case and measures its lines.
pub(crate) fn measure(bench: &Bench, cases: &[String]) -> io::Result<Measured> {
    let mut boots = Vec::new();
    for case in cases {
        boots.push((case, boot(bench, case)?));
    }
    let addresses: BTreeSet<u32> = boots.iter().flat_map(|(_, (_, addresses))| addresses).copied().collect();
    let faults: BTreeSet<u32> = boots.iter().flat_map(|(_, (output, _))| fault(&output.text)).collect();
    let lines = lines(bench, &addresses.union(&faults).copied().collect())?;
    let mut measured = Measured { coverage: Vec::new(), named: Vec::new(), failures: Vec::new() };
    for (case, (output, executed)) in boots {
        let trial = output.trial(std::slice::from_ref(case));
        let failed = !trial.failed.is_empty();
        let covered = executed.iter().filter_map(|address| lines.get(address)).flatten().cloned().collect();
        measured.coverage.push(Coverage { case: case.clone(), failed, lines: covered });
        measured.failures.extend(output.failures());
        for (path, line) in fault(&output.text).iter().filter_map(|address| lines.get(address)).flatten() {
            measured.named.push(Named { path: path.clone(), line: *line, by: "fault".to_owned() });
        }
    }
    measured.named.dedup();
    Ok(measured)
}

fn boot(bench: &Bench, case: &str) -> io::Result<(Output, BTreeSet<u32>)> {
    let log = bench.folder.join("build/met.log");
    let output = bench.boot(Some(case), Some(&log))?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let address = |line: &str| u32::from_str_radix(line.strip_prefix("0x")?.split(':').next()?, 16).ok();
    Ok((output, text.lines().filter_map(address).collect()))
}

/// Returns the addresses that the fault handler printed.
fn fault(text: &str) -> Vec<u32> {
    let Some(line) = text.lines().find(|line| line.starts_with("HardFault")) else { return Vec::new() };
    let words = line.split_whitespace().filter_map(|word| word.strip_prefix("pc=0x").or(word.strip_prefix("lr=0x")));
    words.filter_map(|word| u32::from_str_radix(word, 16).ok()).map(|address| address & !1).collect()
}

/// Returns the source lines of addresses, including those of the functions they were inlined into.
fn lines(bench: &Bench, addresses: &BTreeSet<u32>) -> io::Result<BTreeMap<u32, Vec<(String, usize)>>> {
    let mut command = Command::new("arm-none-eabi-addr2line");
    command.args(["-a", "-i", "-e", "build/fw.elf"]).current_dir(&bench.folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let asked: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let Some(mut input) = child.stdin.take() else { return Err(io::Error::other("no input")) };
    let writer = thread::spawn(move || input.write_all(asked.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| io::Error::other("addr2line"))??;
    let mut lines: BTreeMap<u32, Vec<(String, usize)>> = BTreeMap::new();
    let mut address = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(next) = line.strip_prefix("0x") {
            address = u32::from_str_radix(next, 16).unwrap_or_default();
        } else if let Some(place) = place(line) {
            lines.entry(address).or_default().push(place);
        }
    }
    Ok(lines)
}

fn place(line: &str) -> Option<(String, usize)> {
    let (path, number) = line.rsplit_once(':')?;
    let number = number.split(' ').next()?.parse().ok().filter(|number| *number > 0)?;
    let path = path.strip_prefix("./").unwrap_or(path);
    path.starts_with("src/").then(|| (path.to_owned(), number))
}

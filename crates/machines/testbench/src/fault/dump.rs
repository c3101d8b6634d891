//! Fault dumps in a log: a banner line, with registers and addresses on the lines below it.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::{Regex, bytes};

use super::Symbols;
use crate::Fault;

/// The first lines of fault handlers, kernels and sanitizers.
const BANNERS: &str = r"(?ix)
    \b(hard|bus|usage|mem(ory)?[\x20_-]?manage(ment)?|mpu|secure|page|segmentation|access|double|general\x20protection|stack)[\x20_-]?fault\b
    | \b(data|prefetch|instruction)[\x20_-]abort\b
    | \bundefined\x20instruction\b
    | \bunhandled\x20(exception|trap|interrupt)\b
    | \b(illegal|load|store/amo|instruction)\x20(instruction|access\x20fault|address\x20misaligned)\b
    | \bkernel\x20panic\b | \bguru\x20meditation\b | \bfatal\x20error\b | \bstack\x20(smashing|overflow)\b
    | ^[^a-z0-9]*panic(ked)?\b
    | \bassertion\b.*\bfailed\b | \bassert\x20failed\b
    | \b(address|undefinedbehavior|memory|thread|leak)sanitizer: | \bruntime\x20error:
    | ^qemu:\x20(fatal|uncaught)
";

/// Result lines may mention a fault without being one.
const RESULT: &str = r"(?i)\b(pass(ed)?|ok|skip(ped)?|ignored)\b";

/// A register: its name and its hexadecimal value.
const REGISTER: &str = r"(?ix)
    \b( pc | lr | sp | fp | ra | gp | tp | msp | psp | x?psr | cpsr | spsr | cfsr | hfsr | dfsr | afsr | mmfar | bfar | shcsr | ipsr
      | [sm]?epc | [sm]?cause | [sm]?tval | [sm]?status | badaddr | elr(?:_el[1-3])? | esr(?:_el[1-3])? | far(?:_el[1-3])? | ifsr | ifar
      | dfar | r[0-9]{1,2} | x[0-9]{1,2} | a[0-7] | s[0-9]{1,2} | t[0-6] | eip | rip )
    \b \)? \s* [:=]? \s* (?: 0x ([0-9a-f]{1,16}) | ([0-9a-f]{16} | [0-9a-f]{8}) ) \b
";

/// A hexadecimal address without a name.
const ADDRESS: &str = r"(?i)\b0x([0-9a-f]{3,16})\b";

/// The registers that hold the place of the fault, most precise first.
const PROGRAM_COUNTERS: [&str; 8] = ["pc", "mepc", "sepc", "epc", "elr", "elr_el1", "r15", "eip"];

/// The registers that hold the return address.
const RETURN_ADDRESSES: [&str; 4] = ["lr", "ra", "r14", "x30"];

/// The largest number of lines of a dump.
const DUMP_LINES_MAX: usize = 40;

/// The largest number of faults that are reported, and of stack frames in each.
const FAULTS_MAX: usize = 20;
const STACK_MAX: usize = 32;

static KNOWN: LazyLock<Option<FaultPatterns>> = LazyLock::new(|| {
    let [banner, result, register, address] = [BANNERS, RESULT, REGISTER, ADDRESS].map(|text| Regex::new(text).ok());
    Some(FaultPatterns { banner: banner?, result: result?, register: register?, address: address? })
});

struct FaultPatterns {
    banner: Regex,
    result: Regex,
    register: Regex,
    address: Regex,
}

/// Patterns of faults in addition to the built-in ones. Named groups are registers: `(?P<pc>[0-9a-f]+)`.
pub type Patterns = [bytes::Regex];

/// Returns the faults in a log, in order, with source locations if the symbols contain them.
pub fn faults(log: &str, own: &Patterns, symbols: Option<&Symbols>) -> Vec<Fault> {
    let Some(known) = KNOWN.as_ref() else { return Vec::new() };
    let lines: Vec<&str> = log.lines().map(|line| line.trim_end_matches('\r')).collect();
    let mut faults: Vec<Fault> = Vec::new();
    let mut at = 0;
    while at < lines.len() && faults.len() < FAULTS_MAX {
        match known.begins(lines[at], own) {
            true => {
                let end = known.end(&lines, at, own);
                faults.push(known.fault(&lines[at..end], own, symbols));
                at = end;
            }
            false => at += 1,
        }
    }
    faults
}

/// Returns the registers that a text names, by lower-case name.
pub fn registers(text: &str) -> BTreeMap<String, String> {
    KNOWN.as_ref().map(|known| known.registers(text)).unwrap_or_default()
}

impl FaultPatterns {
    /// Reports whether a line begins a dump: it is a banner, or it has the program counter and another register.
    fn begins(&self, line: &str, own: &Patterns) -> bool {
        if own.iter().any(|pattern| pattern.is_match(line.as_bytes())) {
            return true;
        }
        let is_banner = self.banner.is_match(line) && !self.result.is_match(line);
        is_banner || {
            let registers = self.registers(line);
            registers.len() > 1 && PROGRAM_COUNTERS.iter().any(|name| registers.contains_key(*name))
        }
    }

    /// Returns the end of a dump: before a result, before the next banner after registers, or after the last line
    /// with registers or addresses.
    fn end(&self, lines: &[&str], begin: usize, own: &Patterns) -> usize {
        let (mut end, mut has_registers) = (begin + 1, self.register.is_match(lines[begin]));
        for (at, line) in lines.iter().enumerate().skip(begin + 1).take(DUMP_LINES_MAX) {
            let is_own = own.iter().any(|pattern| pattern.is_match(line.as_bytes()));
            let is_banner = self.banner.is_match(line) && !self.result.is_match(line);
            if is_own || (is_banner && has_registers) {
                break;
            }
            let belongs = self.register.is_match(line) || self.address.is_match(line);
            has_registers |= belongs;
            if belongs || is_banner {
                end = at + 1;
            } else if at > end + 2 || (self.result.is_match(line) && !line.trim().is_empty()) {
                break;
            }
        }
        end
    }

    fn registers(&self, text: &str) -> BTreeMap<String, String> {
        let found = self.register.captures_iter(text).filter_map(|found| {
            let value = found.get(2).or(found.get(3))?;
            Some((found.get(1)?.as_str().to_lowercase(), value.as_str().to_lowercase()))
        });
        let mut registers = BTreeMap::new();
        for (name, value) in found {
            registers.entry(name).or_insert(value);
        }
        registers
    }

    fn fault(&self, lines: &[&str], own: &Patterns, symbols: Option<&Symbols>) -> Fault {
        let text = lines.join("\n");
        let mut registers = self.registers(&text);
        for pattern in own {
            registers.extend(groups(pattern, &text));
        }
        let banner = lines.first().copied().unwrap_or_default().trim().to_owned();
        let stack = symbols.map(|symbols| self.stack(&text, &registers, symbols)).unwrap_or_default();
        Fault { banner, stack, registers }
    }

    /// Returns the place of the fault, the place of its caller, and the other code addresses in the dump.
    fn stack(&self, text: &str, registers: &BTreeMap<String, String>, symbols: &Symbols) -> Vec<String> {
        let value = |name: &&str| registers.get(*name).and_then(|value| number(value));
        let counter = PROGRAM_COUNTERS.iter().find_map(&value);
        let back = RETURN_ADDRESSES.iter().find_map(value);
        let is_register = |address: &u64| registers.values().any(|value| number(value) == Some(*address));
        let others = self.address.captures_iter(text).filter_map(|found| number(found.get(1)?.as_str()));
        let others = others.filter(|address| symbols.is_code(*address) && !is_register(address));
        let mut stack: Vec<String> = Vec::new();
        let places = counter.map(|at| symbols.places(at)).into_iter();
        for place in
            places.chain(back.map(|at| symbols.caller(at))).chain(others.map(|at| symbols.places(at))).flatten()
        {
            let place = place.to_string();
            if stack.last() != Some(&place) && stack.len() < STACK_MAX {
                stack.push(place);
            }
        }
        stack
    }
}

fn groups(pattern: &bytes::Regex, text: &str) -> Vec<(String, String)> {
    let Some(found) = pattern.captures(text.as_bytes()) else { return Vec::new() };
    let text = |name: &str| Some(String::from_utf8_lossy(found.name(name)?.as_bytes()).to_lowercase());
    let named = pattern.capture_names().flatten().filter_map(|name| Some((name.to_lowercase(), text(name)?)));
    named.map(|(name, value)| (name, value.trim_start_matches("0x").to_owned())).collect()
}

/// Parses a hexadecimal value.
fn number(value: &str) -> Option<u64> {
    u64::from_str_radix(value.trim_start_matches("0x"), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_patterns_compile() {
        for pattern in [BANNERS, RESULT, REGISTER, ADDRESS] {
            Regex::new(pattern).unwrap();
        }
    }
}

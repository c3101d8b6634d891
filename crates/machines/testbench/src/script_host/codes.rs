//! Windows exit codes that the system sets when it ends a program.

use crate::Fault;

/// The codes of crashed tests, with the system's descriptions.
const CODES: [(u32, &str); 12] = [
    (0x8000_0003, "breakpoint or failed assertion"),
    (0xC000_0005, "access violation"),
    (0xC000_0008, "invalid handle"),
    (0xC000_0017, "out of memory"),
    (0xC000_001D, "illegal instruction"),
    (0xC000_0094, "integer division by zero"),
    (0xC000_00FD, "stack overflow"),
    (0xC000_0135, "a DLL was not found"),
    (0xC000_0139, "an entry point of a DLL was not found"),
    (0xC000_0142, "a DLL could not be initialised"),
    (0xC000_0374, "heap corruption"),
    (0xC000_0409, "stack buffer overrun, or fail-fast exit"),
];

/// The code of a program that was interrupted with Ctrl-C.
const INTERRUPTED: u32 = 0xC000_013A;

/// Returns the fault that an exit code represents. Codes occur as signed and as unsigned numbers.
pub(crate) fn fault(code: i64) -> Option<Fault> {
    let code = i32::try_from(code).map(i32::cast_unsigned).or_else(|_| u32::try_from(code)).ok()?;
    let known = CODES.iter().find(|(known, _)| *known == code).map(|(_, words)| *words);
    let words = match known {
        Some(words) => words,
        None if code == INTERRUPTED => return None,
        // Errors that the system itself reports have the two upper bits set.
        None if (0xC000_0000..0xC100_0000).contains(&code) => "ended by the system",
        None => return None,
    };
    Some(Fault { banner: format!("exit code 0x{code:08X}: {words}"), ..Fault::default() })
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn crash_codes_are_faults_signed_and_unsigned() {
        let banner = |code: i64| fault(code).map(|fault| fault.banner);
        let violation = Some("exit code 0xC0000005: access violation".to_owned());
        assert_eq!(banner(-1_073_741_819), violation);
        assert_eq!(banner(3_221_225_477), violation);
        assert_eq!(
            banner(-1_073_740_791),
            Some("exit code 0xC0000409: stack buffer overrun, or fail-fast exit".into())
        );
        assert_eq!(banner(0xC000_0420), Some("exit code 0xC0000420: ended by the system".into()));
        for ordinary in [0, 1, 5, -1, 259, 3_010, i64::from(i32::MIN), i64::MAX, i64::MIN, 0xC000_013A] {
            assert_eq!(banner(ordinary), None, "{ordinary}");
        }
    }
}

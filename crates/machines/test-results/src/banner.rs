//! Lines that report a fault, regardless of the program that prints them. The list is short and contains only lines
//! that never occur in a good run: it is applied to the whole output, also after the last case.

use super::reading::form;

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A fault at any place of the output.
    Fault,
    /// An assertion: a fault, unless it belongs to a case.
    Assertion,
}

/// Faults of processors, kernels, emulators, runtimes and sanitizers.
const FAULTS: &str = r"(?x)
    (?i:\b (?: hard | bus | usage | secure | mpu | mem (?: manage (?: ment )? | ory\ management )? ) [\ _-]? fault \b)
    | (?i:\b (?: kernel | guest ) \s panic \b) | (?i:\b panic \s - \s not \s syncing) | \b Oops: | Internal\ error: | Unable\ to\ handle\ kernel | \b BUG:\ 
    | (?i:guru \s meditation) | ZEPHYR\ FATAL\ ERROR | (?i:\b double \s fault \b)
    | (?i:stack \s smashing) | (?i:stack \s (?: overflow | corruption ) \b) | \*\*\*\ .*\ detected\ \*\*\*
    | (?i:\b (?: watchdog | wdt | iwdg | wwdg ) \s (?: reset | timeout | bite | expired | got \s triggered ))
    | (?i:\b reset \s (?: cause | reason ) \b .* (?: watchdog | wdt | wdog )) | rst:0x[0-9a-f]+\ \(\w*WDT\w*\)
    | qemu:\ fatal: | qemu:\ unhandled | qemu(?:-system-\w+)?:\ .*\ terminating\ on\ signal\ (?:4|6|7|8|11)\b | (?i:\b lock-?up \b .* (?: core | cpu | fault | double )) | Lockup:
    | (?: Address | Leak | Thread | Memory | UndefinedBehavior | HWAddress ) Sanitizer: | :\ runtime\ error:\ 
    | (?i:\b segmentation \s fault \b) | \b SIG (?: SEGV | ABRT | BUS | ILL | FPE ) \b | Fatal\ Python\ error: | (?i:\b core \s dumped \b)
    | terminate\ called\ (?: after | without ) | (?i:\b (?: illegal | undefined ) \s instruction \b)";

/// Assertions as C libraries, kernels and runtimes print them.
const ASSERTIONS: &str = r"(?x)
    (?i:\b assert (?: ion )? \s+ (?: failed | failure )) | (?i:\b assert_failed \b) | Assertion\ .*\ failed | assertion\ .*\ failed | ASSERTION\ FAIL | (?i:\b assert\s+ failed\s+at)
    | \b panicked\ at\b | \*\*\*\ ASSERT";

/// Phrases that mention faults without reporting one. They are removed from a line before the check, so that they
/// hide nothing else.
const HARMLESS: &str = r"(?xi)
    [\w\ ,/]{0,40} \b handlers? \b .{0,20} \b (?: installed | registered | enabled | set | ready | ok ) \b
    | \b (?: install | register | enabl ) \w* \b .{0,20} (?: fault | watchdog ) [\w\ ,/]{0,60}
    | \b no \b [\w\ ]{0,20} \b (?: faults? | panics? | lock-?ups? | resets? | overflows? ) \b
    | \b 0 \s (?: faults | panics | resets ) \b | \w* \s? (?: faults? | panics? | resets? ) \s* [:=] \s* 0 \b";

/// Returns the kind of fault that a line reports, if any.
pub(super) fn kind(line: &str) -> Option<Kind> {
    let is = |form: Option<&'static regex::Regex>, text: &str| form.is_some_and(|form| form.is_match(text));
    if is(form!(FAULTS), line) {
        let rest = form!(HARMLESS)?.replace_all(line, " ");
        return is(form!(FAULTS), &rest).then_some(Kind::Fault);
    }
    is(form!(ASSERTIONS), line).then_some(Kind::Assertion)
}

/// Matches the lines in which a build or test driver reports that a command failed.
pub(super) fn stopped() -> Option<&'static regex::Regex> {
    form!(
        r"(?x)
        ^\s* (?: \S*make (?: \.exe )? (?: \[\d+\] )? : \s \*\*\* .* (?: Error\ \d+ | Stop\. | \b(?: Segmentation | Aborted | Killed | Terminated )\b )
        | ninja:\ (?: build\ stopped | error: ) | gmake:\ \*\*\* | npm\ (?: ERR!\ Test\ failed | error\ code )
        | \#\#\[error\] | Error:\ Process\ completed\ with\ exit\ code\ [1-9] )"
    )
}

/// Returns every line of a text that reports a fault, including assertions.
pub fn faults(text: &str) -> Vec<String> {
    let lines = super::lines::lines(text);
    lines.into_iter().map(|line| line.text.trim().to_owned()).filter(|line| kind(line).is_some()).collect()
}

/// Returns every line of a text that reports a fault that no case can explain: assertions are left out.
pub(super) fn certain(text: &str) -> Vec<String> {
    let lines = super::lines::lines(text);
    let is_fault = |line: &String| kind(line) == Some(Kind::Fault);
    lines.into_iter().map(|line| line.text.trim().to_owned()).filter(is_fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<Kind>) {
        assert_eq!(kind(line), expected, "{line}");
    }

    #[test]
    fn faults_are_distinguished_from_lines_that_mention_them() {
        for line in [
            "HardFault at pc=0x08000124 lr=0x08000101",
            "*** HARD FAULT ***",
            "E: ***** BUS FAULT *****",
            "E: ***** USAGE FAULT *****",
            "MemManage fault",
            "[    2.1] Kernel panic - not syncing: Attempted to kill init!",
            "Guru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.",
            ">>> ZEPHYR FATAL ERROR 0: CPU exception on CPU 0",
            "*** stack smashing detected ***: terminated",
            "Watchdog reset",
            "Reset cause: watchdog",
            "rst:0x8 (TG1WDT_SYS_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)",
            "qemu: fatal: Lockup: can't escalate 3 to HardFault (current priority -1)",
            "==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60",
            "ring.c:12:3: runtime error: signed integer overflow",
            "Segmentation fault (core dumped)",
            "Fatal Python error: Aborted",
            "process didn't exit successfully: `t` (signal: 6, SIGABRT: process abort signal)",
        ] {
            check(line, Some(Kind::Fault));
        }
        for line in [
            "assertion \"x > 0\" failed: file \"ring.c\", line 12, function: push",
            "ring.c:12: push: Assertion `x' failed.",
            "ASSERTION FAIL [x] @ WEST_TOPDIR/a.c:12",
            "assert failed: x at ring.c:3",
            "thread 'main' panicked at src/main.rs:3:5:",
        ] {
            check(line, Some(Kind::Assertion));
        }
        for line in [
            "HardFault handler installed",
            "watchdog enabled, 5 s",
            "Installing fault handlers HardFault, BusFault",
            "no hard fault seen",
            "faults: 0",
            "PASS",
            "panic button test",
            "asserting line CTS",
            "the default is false",
        ] {
            check(line, None);
        }
    }
}

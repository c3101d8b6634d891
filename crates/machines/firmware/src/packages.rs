//! Maps programs to packages, so that a message about a missing program can name the package to install.

/// Programs and the Debian packages that contain them, if the names differ.
const PACKAGES: [(&str, &str); 21] = [
    ("addr2line", "binutils"),
    ("arm-none-eabi-addr2line", "binutils-arm-none-eabi"),
    ("arm-none-eabi-g++", "gcc-arm-none-eabi"),
    ("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
    ("arm-none-eabi-gdb", "gdb-multiarch"),
    ("arm-none-eabi-objcopy", "binutils-arm-none-eabi"),
    ("cc", "gcc"),
    ("c++", "g++"),
    ("ctest", "cmake"),
    ("dtc", "device-tree-compiler"),
    ("ipmi_sim", "openipmi"),
    ("ninja", "ninja-build"),
    ("pio", "platformio"),
    ("platformio", "platformio"),
    ("west", "west (with pip)"),
    ("pytest", "python3-pytest"),
    ("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
    ("scp", "openssh-client"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
    ("cargo", "cargo"),
];

/// Families of programs by the beginnings of their names, and the packages that contain them. The compilers themselves
/// stand in a package of their own, which needs the other one.
const FAMILIES: [(&str, &str, &str); 5] = [
    ("arm-none-eabi-", "gcc-arm-none-eabi", "binutils-arm-none-eabi"),
    ("riscv64-unknown-elf-", "gcc-riscv64-unknown-elf", "binutils-riscv64-unknown-elf"),
    ("avr-", "gcc-avr", "binutils-avr"),
    ("xtensa-lx106-elf-", "gcc-xtensa-lx106", "binutils-xtensa-lx106"),
    ("msp430-elf-", "gcc-msp430", "binutils-msp430"),
];

/// Returns the package to install and the program that it is for.
pub(crate) fn to_install(program: &str) -> String {
    named(program, package_of(program))
}

/// Returns the same text for a known package: always both names, because they need not be the same.
pub(crate) fn named(program: &str, package: &str) -> String {
    format!("the package {package} (for the program {program})")
}

/// Returns a program that a build could not find, from what the build said; `None` if the program is there after all.
pub(crate) fn not_found(said: &str, is_there: impl Fn(&str) -> bool) -> Option<String> {
    let plain = |name: &str| {
        let name = name.trim_matches(['`', '\'', '"']).rsplit('/').next().unwrap_or_default();
        let is_name =
            !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "-_.+".contains(letter));
        (is_name && !is_there(name)).then(|| name.to_owned())
    };
    said.lines().find_map(|line| {
        // `sh: 1: cc: not found`, `bash: cc: command not found`, `make: cc: No such file or directory`.
        let before = ["command not found", "not found", "No such file or directory"]
            .iter()
            .find_map(|end| line.trim_end().trim_end_matches('.').strip_suffix(end)?.trim_end().strip_suffix(':'))?;
        let is_shell =
            ["sh: ", "bash: ", "dash: ", "make", "ninja", "/bin/sh: "].iter().any(|start| line.starts_with(start));
        plain(before.rsplit(": ").next()?).filter(|_| is_shell)
    })
}

/// Returns the Debian package to install for a program.
pub fn package_of(program: &str) -> &str {
    if program.rsplit('/').next().is_some_and(|name| name.starts_with("qemu-system-")) {
        return interlock_testbench::qemu_package(program);
    }
    let known = PACKAGES.iter().find(|(name, _)| *name == program).map(|(_, package)| *package);
    let family = FAMILIES.iter().find_map(|(start, compilers, tools)| {
        let tool = program.strip_prefix(start)?;
        Some(if ["gcc", "g++", "cpp", "gcov", "c++"].contains(&tool) { *compilers } else { *tools })
    });
    known.or(family).unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_program_of_a_build_is_found_in_its_words() {
        let lacks = |_: &str| false;
        let check = |said: &str| not_found(said, lacks);
        assert_eq!(check("sh: 1: no-cc: not found").as_deref(), Some("no-cc"));
        assert_eq!(
            check("make: arm-none-eabi-gcc: No such file or directory\nmake: *** Error 127").as_deref(),
            Some("arm-none-eabi-gcc")
        );
        assert_eq!(
            check("/bin/sh: 1: /opt/x/riscv64-unknown-elf-gcc: not found").as_deref(),
            Some("riscv64-unknown-elf-gcc")
        );
        assert_eq!(check("a.c:1:10: fatal error: board.h: No such file or directory"), None, "a file is no program");
        assert_eq!(not_found("sh: 1: cc: not found", |_| true), None, "it is there");
    }

    #[test]
    fn a_package_is_always_named_with_its_program() {
        assert_eq!(to_install("make"), "the package make (for the program make)");
        assert_eq!(
            to_install("arm-none-eabi-size"),
            "the package binutils-arm-none-eabi (for the program arm-none-eabi-size)"
        );
        assert_eq!(to_install("avr-gcc"), "the package gcc-avr (for the program avr-gcc)");
        assert_eq!(to_install("pio"), "the package platformio (for the program pio)");
    }
}

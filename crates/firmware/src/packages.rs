//! Maps programs to packages, so that a message about a missing program can name the package to install.

/// Programs and the Debian packages that contain them, if the names differ.
const PACKAGES: [(&str, &str); 18] = [
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
    ("pytest", "python3-pytest"),
    ("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
    ("scp", "openssh-client"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
    ("cargo", "cargo"),
];

/// Returns the package to install and the program that it is for.
pub(crate) fn to_install(program: &str) -> String {
    named(program, package_of(program))
}

/// Returns the same text for a known package.
pub(crate) fn named(program: &str, package: &str) -> String {
    if package == program { package.to_owned() } else { format!("{package} (for {program})") }
}

/// Returns the Debian package to install for a program.
pub fn package_of(program: &str) -> &str {
    if program.rsplit('/').next().is_some_and(|name| name.starts_with("qemu-system-")) {
        return interlock_testbench::qemu_package(program);
    }
    PACKAGES.iter().find(|(name, _)| *name == program).map_or(program, |(_, package)| package)
}

//! Which package has a program: what to install is said with what is missing.

/// Programs and the Debian packages that have them, where the names differ.
const PACKAGES: [(&str, &str); 22] = [
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
    ("qemu-system-aarch64", "qemu-system-arm"),
    ("qemu-system-riscv32", "qemu-system-misc"),
    ("qemu-system-riscv64", "qemu-system-misc"),
    ("riscv64-unknown-elf-gcc", "gcc-riscv64-unknown-elf"),
    ("scp", "openssh-client"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
    ("qemu-system-xtensa", "qemu-system-misc"),
    ("cargo", "cargo"),
];

/// The package to install for a program.
pub(crate) fn package_of(program: &str) -> &str {
    PACKAGES.iter().find(|(name, _)| *name == program).map_or(program, |(_, package)| package)
}

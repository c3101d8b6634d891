//! Real firmware, compiled by real cross compilers from the small C files beside these tests.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

use serde_json::json;

use crate::trial::has_parts;

/// A processor for which firmware is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    CortexM,
    CortexA,
    RiscV,
}

/// Selects whether the firmware's fault handler reports the place of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handler {
    Reports,
    Faults,
}

impl Processor {
    fn qemu(self) -> &'static str {
        match self {
            Processor::CortexM | Processor::CortexA => "qemu-system-arm",
            Processor::RiscV => "qemu-system-riscv32",
        }
    }

    /// The compiler, its options, and the base name of the files.
    fn compiler(self) -> (&'static str, &'static [&'static str], &'static str) {
        match self {
            Processor::CortexM => ("arm-none-eabi-gcc", &["-mcpu=cortex-m3", "-mthumb"], "cortex_m"),
            Processor::CortexA => ("arm-none-eabi-gcc", &["-mcpu=cortex-a15", "-marm"], "cortex_a"),
            Processor::RiscV => {
                let options = &["-march=rv32imac_zicsr", "-mabi=ilp32", "-mcmodel=medany"];
                ("riscv64-unknown-elf-gcc", options, "riscv")
            }
        }
    }

    /// Returns the source file that is specific to the processor.
    pub(crate) fn source(self) -> String {
        format!("{}.c", self.compiler().2)
    }

    /// Returns the profile settings of the processor.
    pub(crate) fn config(self) -> serde_json::Value {
        let machine = match self {
            Processor::CortexM => json!({ "machine": "mps2-an385" }),
            Processor::CortexA => json!({ "machine": "virt", "cpu": "cortex-a15", "memory_mb": 16 }),
            Processor::RiscV => json!({ "machine": "virt", "image": "-bios none -kernel {image}", "memory_mb": 16 }),
        };
        let mut config = json!({ "program": self.qemu(), "semihosting": true });
        config.as_object_mut().unwrap().extend(machine.as_object().unwrap().clone());
        config
    }

    /// Returns the compiled firmware; `None` if it cannot be compiled or run here.
    pub(crate) fn firmware(self, handler: Handler) -> Option<PathBuf> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let (compiler, options, name) = self.compiler();
        if !has_parts(&[compiler, self.qemu()]) {
            return None;
        }
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let image =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{handler:?}-{}.elf", std::process::id()));
        if !image.exists() {
            compile(compiler, options, name, handler, &image);
        }
        Some(image)
    }
}

/// Returns the directory of the sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware")
}

/// Returns a directory that no firmware may write to, and that one attempts to write to.
pub(crate) fn outside() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outside-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the location of the source line that contains a text, as `file:line`.
pub(crate) fn line_with(file: &str, text: &str) -> String {
    let path = sources().join(file);
    let content = fs::read_to_string(&path).unwrap();
    let line = content.lines().position(|line| line.contains(text)).unwrap() + 1;
    format!("{}:{line}", path.display())
}

fn compile(compiler: &str, options: &[&str], name: &str, handler: Handler, image: &Path) {
    let source = |file: String| sources().join(file);
    let mut command = Command::new(compiler);
    command.args(["-g", "-O1", "-ffreestanding", "-nostdlib", "-Wall", "-Wextra", "-Wno-array-bounds"]).args(options);
    command.arg(format!("-DOUTSIDE=\"{}\"", outside().display()));
    if handler == Handler::Reports {
        command.arg("-DHANDLER");
    }
    command.arg("-T").arg(source(format!("{name}.ld")));
    command.arg(source("main.c".into())).arg(source(format!("{name}.c"))).arg("-o").arg(image);
    let compiled = command.output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// Compiles a firmware for Cortex-M with gcov counters, with the compiler's note files beside it.
pub(crate) fn counting_firmware(folder: &Path) -> PathBuf {
    let gcc = |words: &[&str]| {
        let usual = ["-g", "-O1", "-mcpu=cortex-m3", "-mthumb", "-Wno-array-bounds"];
        let compiled = Command::new("arm-none-eabi-gcc").current_dir(folder).args(usual).args(words).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    };
    let source = |file: &str| sources().join(file).display().to_string();
    gcc(&["-c", "--coverage", "-fprofile-info-section", &source("gcov.c"), "-o", "gcov.o"]);
    gcc(&["-c", "-DHANDLER", &source("cortex_m.c"), "-o", "cortex_m.o"]);
    let library = ["-nostartfiles", "--specs=nosys.specs", "--specs=nano.specs", "-T", &source("cortex_m.ld")];
    gcc(&[&library[..], &["gcov.o", "cortex_m.o", "-lgcov", "-o", "gcov.elf"]].concat());
    folder.join("gcov.elf")
}

//! Firmware in an emulator. Every start is a separate QEMU process, and all effects of the firmware end with it.
//!
//! With semihosting, a firmware can open files and run commands on this computer, and a patched image is not trusted.
//! So QEMU runs in the sandbox without a network and can change nothing but one directory, whose content is not
//! trusted afterwards ([`guest`]).

mod boot;
mod command;
mod config;
mod coverage;
mod debugger;
mod guest;
mod hang;
mod qmp;
mod start;
mod starved;
mod watch;

use interlock_beneath::whole;
use std::path::Path;

use interlock_activity::EffectClass;

use crate::{
    Bench, Doing, Environment, FetchedFile, Operation, Profile, Ran, Reset, Start, Trouble, confined, fault::Image,
    leftovers,
};
pub use command::package;
use config::Config;

/// The environment that runs firmware in QEMU.
#[derive(Debug)]
pub struct Qemu {
    config: Config,
}

impl Qemu {
    /// Reads the profile; returns all problems as one error.
    pub fn new(profile: &Profile) -> Result<Self, Trouble> {
        Ok(Qemu { config: Config::read(&profile.config)? })
    }
}

impl Environment for Qemu {
    /// All operations are reads, because no effect outlives the QEMU process.
    fn effect(&self, _: Operation) -> EffectClass {
        EffectClass::Read
    }

    fn setup<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move {
            let program = &self.config.program;
            confined::find(program, &bench.session.sources, command::package(program))?;
            Ok(whole::make_folders(bench.session.folder.join("runs"))?)
        })
    }

    fn deploy<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move {
            let image = bench.session.image.as_ref();
            let image = image.ok_or_else(|| Trouble::environment("there is no image to run"))?;
            match std::fs::metadata(image) {
                Ok(about) if about.is_file() && about.len() > 0 => {
                    match Image::read(image)?.unfit_for(&self.config.program) {
                        Some(why) => Err(Trouble::Setup(format!("`build.image` cannot run there: {why}"))),
                        None => Ok(()),
                    }
                }
                Ok(_) => Err(Trouble::Environment(format!("the image is empty: {}", image.display()))),
                Err(error) => Err(Trouble::Environment(format!("there is no image: {}: {error}", image.display()))),
            }
        })
    }

    fn health_check<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, String> {
        Box::pin(start::health_check(&self.config, bench))
    }

    fn run<'a>(&'a self, bench: Bench<'a>, start: &'a Start, folder: &'a Path) -> Doing<'a, Ran> {
        Box::pin(start::run(&self.config, bench, start, folder))
    }

    fn fetch_logs<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(async move { Ok(leftovers::logs(bench.session)?) })
    }

    fn fetch_artifacts<'a>(&'a self, _: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(async move { Ok(Vec::new()) })
    }

    fn reset<'a>(&'a self, bench: Bench<'a>, _: Reset) -> Doing<'a, String> {
        Box::pin(leftovers::clear(bench, guest::FOLDER))
    }

    fn teardown<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move { leftovers::clear(bench, guest::FOLDER).await.map(drop) })
    }
}

//! `target_board`: a board on a bench, with a serial console, SSH or both; configured commands control its power and
//! its flash memory.
//! `bmc`: the same for a system whose management controller provides power, media and console.

mod config;
mod console;
mod order;
mod run;
mod switch;

use interlock_beneath::whole;
use std::path::Path;

use interlock_activity::EffectClass;
use interlock_sandbox::Network;

pub(crate) use self::config::Flash;
use self::{
    config::Board,
    console::Console,
    order::filled,
    switch::{Thoroughly, restart, there},
};
use crate::{
    Bench, Doing, Environment, FetchedFile, Operation, Profile, Ran, Reset, Start, Trouble,
    fetch::{self, Wanted},
    ssh::{Marked, Remote, Ssh, quoted},
    stop::stoppable,
    tool::Tool,
};

/// The time limit of a short command over SSH or on the console.
const SMALL: std::time::Duration = std::time::Duration::from_secs(60);

/// The boards that a profile names.
#[derive(Clone, Debug)]
pub(crate) struct TargetBoard {
    boards: Vec<Board>,
}

impl TargetBoard {
    /// Reads the boards of a profile.
    pub(crate) fn new(profile: &Profile) -> Result<Self, Trouble> {
        Ok(TargetBoard { boards: config::boards(&profile.config)? })
    }

    /// Reads the systems of a profile that have a management controller.
    pub(crate) fn managed(profile: &Profile) -> Result<Self, Trouble> {
        Ok(TargetBoard { boards: config::managed(&profile.config)? })
    }

    /// Returns the board that the session holds.
    fn board(&self, bench: Bench<'_>) -> Result<&Board, Trouble> {
        let found = match &bench.session.resource {
            Some(name) => self.boards.iter().find(|board| board.name == *name),
            None => self.boards.first(),
        };
        found.ok_or_else(|| {
            let name = bench.session.resource.as_deref().unwrap_or_default();
            Trouble::config("boards", format!("has none with the name `{name}`"))
        })
    }

    async fn setup(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let board = self.board(bench)?;
        if board.ssh.is_some() {
            Ssh::installed(bench)?;
        }
        let power = &board.power;
        for order in [&power.on, &power.off, &power.cycle, &board.reset].into_iter().flatten() {
            order.check(bench)?;
        }
        let publish = board.controller.as_ref().and_then(|controller| controller.publish.as_ref());
        for flash in [board.flash.as_ref(), publish].into_iter().flatten() {
            Tool::own(&flash.command, SMALL).find(&bench.session.folder)?;
        }
        if board.serial.is_some() {
            Console::open(bench, board, None).await?;
        }
        match (&board.controller, &power.on) {
            (Some(controller), _) => controller.setup(bench).await,
            (None, Some(on)) => on.carry_out(bench, board, None).await,
            (None, None) => Ok(()),
        }
    }

    async fn deploy(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let board = self.board(bench)?;
        let image = || {
            let image = bench.session.image.as_ref();
            image.ok_or_else(|| Trouble::environment("there is no image to deploy"))
        };
        let publish = board.controller.as_ref().and_then(|controller| controller.publish.as_ref());
        for flash in [board.flash.as_ref(), publish].into_iter().flatten() {
            image()?;
            write_image(bench, board, flash).await?;
        }
        if let (Some(path), Some(ssh)) = (&board.image_path, &board.ssh) {
            ssh.put(bench, image()?, path).await?;
        }
        match &board.controller {
            Some(controller) => controller.insert(bench).await,
            None => Ok(()),
        }
    }

    async fn health_check(&self, bench: Bench<'_>) -> Result<String, Trouble> {
        let board = self.board(bench)?;
        let mut console = console(bench, board).await?;
        if board.prompt.is_none() && board.ssh.is_none() && board.boot.is_some() {
            // Its only output comes when it boots, so it must be restarted to be seen.
            restart(bench, board, console.as_mut(), Thoroughly::Least).await?;
        }
        there(bench, board, console.as_mut()).await
    }

    async fn fetch(
        &self,
        bench: Bench<'_>,
        into: &str,
        pick: fn(&Board) -> &[Wanted],
    ) -> Result<Vec<FetchedFile>, Trouble> {
        let board = self.board(bench)?;
        let folder = fetch::fresh(bench.session, into)?;
        if let Some(controller) = &board.controller {
            controller.fetch(bench, &folder, into).await?;
        }
        for wanted in pick(board) {
            match (wanted, &board.ssh) {
                (Wanted::Path(path), Some(ssh)) => ssh.get(bench, path, &folder).await?,
                (Wanted::Path(path), None) => {
                    let output = on_console(bench, board, &format!("cat {}", quoted(path))).await?;
                    let name = Path::new(path).file_name().unwrap_or_default();
                    whole::write(folder.join(name), output)?;
                }
                (Wanted::Command { name, command }, Some(ssh)) => {
                    let command = format!("exec sh -c {}", quoted(command));
                    let said = ssh.run(bench, &Remote::quiet(command, SMALL)).await?;
                    whole::write(folder.join(name), said.stdout)?;
                }
                (Wanted::Command { name, command }, None) => {
                    whole::write(folder.join(name), on_console(bench, board, command).await?)?;
                }
            }
        }
        fetch::kept(&folder)
    }

    async fn reset(&self, bench: Bench<'_>, how: Reset) -> Result<String, Trouble> {
        let board = self.board(bench)?;
        let how = if how == Reset::Reset { Thoroughly::Least } else { Thoroughly::Power };
        let mut console = console(bench, board).await?;
        let is_switched = board.power.cycles() || board.controller.is_some();
        let done = match (&board.ssh, &board.reset, is_switched) {
            // Nothing but the started programs can be in the way, so ending them is enough.
            (Some(ssh), None, false) => {
                Marked::session(&bench.session.id).end(ssh, bench).await?;
                "the programs started on it were ended"
            }
            _ => restart(bench, board, console.as_mut(), how).await?,
        };
        Ok(format!("{done}; {}", there(bench, board, console.as_mut()).await?))
    }

    async fn teardown(&self, bench: Bench<'_>) -> Result<(), Trouble> {
        let board = self.board(bench)?;
        if let Some(ssh) = &board.ssh {
            Marked::session(&bench.session.id).end(ssh, bench).await?;
        }
        match &board.controller {
            Some(controller) => controller.tidy(bench).await,
            None => Ok(()),
        }
    }
}

async fn write_image(bench: Bench<'_>, board: &Board, flash: &Flash) -> Result<(), Trouble> {
    let words: Vec<_> = flash.command.iter().map(|word| filled(word, bench, board)).collect();
    let mut tool = Tool::own(&words, std::time::Duration::from_secs(flash.timeout_sec));
    tool.network = flash.network.then_some(Network::On);
    tool.write = flash.write.iter().cloned().chain([board.port().into()]).collect();
    tool.env.clone_from(&flash.env);
    tool.must(bench).await.map(drop)
}

/// Opens the board's console, if it has one.
async fn console(bench: Bench<'_>, board: &Board) -> Result<Option<Console>, Trouble> {
    match board.has_console() {
        true => Ok(Some(Console::open(bench, board, None).await?)),
        false => Ok(None),
    }
}

async fn on_console(bench: Bench<'_>, board: &Board, command: &str) -> Result<String, Trouble> {
    let mut console = Console::open(bench, board, None).await?;
    let work = async {
        console.log_in(board, board.boot_time).await?;
        console.output_of(command, SMALL).await
    };
    stoppable(bench, board.boot_time + SMALL, &board.name, work).await
}

impl Environment for TargetBoard {
    fn effect(&self, operation: Operation) -> EffectClass {
        let is_switched = self.boards.iter().any(|board| board.power.on.is_some() || board.controller.is_some());
        match operation {
            Operation::Fetch => EffectClass::Read,
            Operation::Setup if !is_switched => EffectClass::Read,
            _ => EffectClass::External,
        }
    }

    fn resources(&self) -> Vec<String> {
        self.boards.iter().map(|board| board.name.clone()).collect()
    }

    fn setup<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(self.setup(bench))
    }

    fn deploy<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(self.deploy(bench))
    }

    fn health_check<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, String> {
        Box::pin(self.health_check(bench))
    }

    fn run<'a>(&'a self, bench: Bench<'a>, start: &'a Start, folder: &'a Path) -> Doing<'a, Ran> {
        Box::pin(async move { run::run(bench, self.board(bench)?, start, folder).await })
    }

    fn fetch_logs<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(self.fetch(bench, "logs", |board| &board.logs))
    }

    fn fetch_artifacts<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(self.fetch(bench, "artifacts", |board| &board.artifacts))
    }

    fn reset<'a>(&'a self, bench: Bench<'a>, how: Reset) -> Doing<'a, String> {
        Box::pin(self.reset(bench, how))
    }

    fn teardown<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(self.teardown(bench))
    }
}

//! Switches a board off and on, and waits until it responds again.

use std::time::Duration;

use super::{config::Board, console::Console, order::BoardOrder};
use crate::{Bench, Trouble, ssh::Remote, stop::stoppable};

/// The interval between two SSH connection attempts.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// The thoroughness of a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thoroughly {
    /// Uses the board's reset, if it has one.
    Least,
    /// Switches the power off and on.
    Power,
}

/// Restarts the board without waiting until it responds. Console output in the meantime is not lost.
pub(crate) async fn restart(
    bench: Bench<'_>,
    board: &Board,
    console: Option<&mut Console>,
    how: Thoroughly,
) -> Result<&'static str, Trouble> {
    let orders = [&board.reset, &board.power.on, &board.power.off, &board.power.cycle];
    match console {
        Some(console) if !orders.into_iter().flatten().any(BoardOrder::is_on_console) => {
            console.beside(switch(bench, board, None, how)).await
        }
        console => switch(bench, board, console, how).await,
    }
}

async fn switch(
    bench: Bench<'_>,
    board: &Board,
    mut console: Option<&mut Console>,
    how: Thoroughly,
) -> Result<&'static str, Trouble> {
    if let Some(controller) = &board.controller {
        return controller.restart(bench, how == Thoroughly::Power).await;
    }
    let power = &board.power;
    let reset = board.reset.as_ref().filter(|_| how == Thoroughly::Least || !power.cycles());
    if let Some(reset) = reset {
        reset.carry_out(bench, board, console).await?;
        return Ok("it was reset");
    }
    if let Some(cycle) = &power.cycle {
        cycle.carry_out(bench, board, console).await?;
        return Ok("its power was switched off and on");
    }
    let (Some(on), Some(off)) = (&power.on, &power.off) else {
        return Err(Trouble::config("reset", "is missing, and so is `power`: nothing can restart the board"));
    };
    off.carry_out(bench, board, console.as_deref_mut()).await?;
    let pause = Duration::from_secs(power.off_sec);
    let wait = async {
        tokio::time::sleep(pause).await;
        Ok(())
    };
    stoppable(bench, pause + ASK_EVERY, &board.name, wait).await?;
    on.carry_out(bench, board, console).await?;
    Ok("its power was switched off and on")
}

/// Waits until the board responds; returns the observations. `console` is a console that was open during the boot.
pub(crate) async fn there(bench: Bench<'_>, board: &Board, console: Option<&mut Console>) -> Result<String, Trouble> {
    let mut seen = Vec::new();
    match (console, &board.boot, &board.prompt) {
        (Some(console), _, Some(_)) => {
            let limit = board.boot_time + ASK_EVERY;
            stoppable(bench, limit, &board.name, console.log_in(board, board.boot_time)).await?;
            seen.push("its console shows the prompt".to_owned());
        }
        (Some(console), Some(boot), None) => {
            let patterns = [(**boot).clone()];
            let wait = async {
                let found = console.wait_for(&patterns, board.boot_time).await;
                let not = |unmet| Trouble::environment(format!("{} does not start: {unmet}", board.name));
                found.map(|found| found.text).map_err(not)
            };
            let text = stoppable(bench, board.boot_time + ASK_EVERY, &board.name, wait).await?;
            seen.push(format!("its console shows `{}`", text.trim()));
        }
        _ => {}
    }
    if board.ssh.is_some() {
        stoppable(bench, board.boot_time, &board.name, answers(bench, board)).await?;
        seen.push("it answers over SSH".to_owned());
    }
    if let Some(controller) = &board.controller {
        seen.push(controller.seen(bench).await?);
    }
    match seen.is_empty() {
        true => Ok("its console can be opened; no expected output is configured".to_owned()),
        false => Ok(seen.join("; ")),
    }
}

async fn answers(bench: Bench<'_>, board: &Board) -> Result<(), Trouble> {
    let Some(ssh) = &board.ssh else { return Ok(()) };
    loop {
        let said = ssh.run(bench, &Remote::quiet("true", board.boot_time)).await?;
        match said.code() {
            Some(0) => return Ok(()),
            // The board may not be up yet, but a refused key stays refused.
            _ => {
                match said.last_line().filter(|line| line.contains("denied") || line.contains("verification failed")) {
                    Some(line) => {
                        return Err(Trouble::environment(format!("{} refuses the login: {line}", board.name)));
                    }
                    None => tokio::time::sleep(ASK_EVERY).await,
                }
            }
        }
    }
}

//! `interlock draw`: draws a machine, or writes it in another format.

use std::path::Path;

use interlock_chart::Chart;
use interlock_draw::{self as draw, Options};
use interlock_exchange::{self as exchange, Exported, Format};
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    args::{Draw, Drawing, Theme},
    failure::Failure,
    follow::Follower,
    machine,
    output::Output,
    saved::save,
    store::Store,
};

/// Draws a machine, or the part of it that a run visited.
pub(crate) fn run(args: &Draw, output: &Output) -> Outcome {
    let (machine, drawn) = match (&args.run, &args.machine) {
        (Some(run), _) => visited(run, args)?,
        (None, machine) => {
            let chart = machine::load(machine.as_deref().unwrap_or_default(), output)?;
            let drawn = drawing(&chart, args);
            (chart.id, drawn)
        }
    };
    for warning in &drawn.warnings {
        output.talk(&format!("{} {warning}\n", output.yellow("warning:")));
    }
    match &args.output {
        Some(path) => write(path, &drawn.text, output)?,
        None if output.is_json() => {
            let format = args.format.word();
            output.json(
                &json!({ "machine": machine, "format": format, "text": drawn.text, "warnings": drawn.warnings }),
            )?;
        }
        None => output.data(&drawn.text)?,
    }
    Ok(Exit::Good)
}

/// Returns the machine's id, and a picture of the part of the machine that a run visited.
fn visited(run: &str, args: &Draw) -> Result<(String, Exported), Failure> {
    let store = Store::open()?;
    let mut follower = Follower::from_start(&store, store.find(run)?)?;
    let steps = follower.catch_up()?;
    let (visits, chart) = (follower.visits(&steps), follower.live.loaded.chart());
    let text = match args.format {
        Drawing::Svg => draw::visited::svg(chart, &visits, args.theme.into()),
        Drawing::Mermaid => draw::visited::mermaid(chart, &visits),
        Drawing::Dot | Drawing::Scxml | Drawing::Xstate | Drawing::Promela => {
            let problem = format!("a run cannot be drawn as {}", args.format.word());
            return Err(Failure::bad_input(problem).hint("--format svg or --format mermaid"));
        }
    };
    Ok((chart.id.clone(), Exported { text, warnings: Vec::new() }))
}

fn drawing(chart: &Chart, args: &Draw) -> Exported {
    let format = match args.format {
        Drawing::Svg => {
            let options = Options { theme: args.theme.into(), ..Options::default() };
            return Exported { text: draw::svg(chart, &options), warnings: Vec::new() };
        }
        Drawing::Mermaid => Format::Mermaid,
        Drawing::Dot => Format::Dot,
        Drawing::Scxml => Format::Scxml,
        Drawing::Xstate => Format::Xstate,
        Drawing::Promela => Format::Promela,
    };
    exchange::export(chart, format)
}

/// Writes a file and reports its path.
pub(crate) fn write(path: &Path, text: &str, output: &Output) -> Result<(), Failure> {
    save(path, text)?;
    if output.is_json() {
        output.json(&json!({ "path": path }))?;
    } else {
        output.talk(&format!("wrote {}\n", path.display()));
    }
    Ok(())
}

impl From<Theme> for draw::Theme {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Light => draw::Theme::Light,
            Theme::Dark => draw::Theme::Dark,
            Theme::Auto => draw::Theme::Auto,
        }
    }
}

impl Drawing {
    fn word(self) -> &'static str {
        match self {
            Drawing::Svg => "svg",
            Drawing::Mermaid => "mermaid",
            Drawing::Dot => "dot",
            Drawing::Scxml => "scxml",
            Drawing::Xstate => "xstate",
            Drawing::Promela => "promela",
        }
    }
}

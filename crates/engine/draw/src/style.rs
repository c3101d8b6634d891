//! The colours and fonts of a picture.
//!
//! Rules are written out for each theme instead of using CSS variables, which some SVG viewers do not support.

use super::Theme;

struct Palette {
    canvas: &'static str,
    inner: [&'static str; 2],
    text: &'static str,
    muted: &'static str,
    accent: &'static str,
    frame: &'static str,
    edge: &'static str,
    faint: &'static str,
    marked: &'static str,
    on_marked: &'static str,
    /// Class, fill and stroke of each kind of box.
    boxes: [(&'static str, &'static str, &'static str); 9],
}

const LIGHT: Palette = Palette {
    canvas: "#ffffff",
    inner: ["#f6f8fa", "#edf0f4"],
    text: "#1f2328",
    muted: "#656d76",
    accent: "#9a5b00",
    frame: "#c2cad3",
    edge: "#5f6872",
    faint: "#b0a2a2",
    marked: "#d9480f",
    on_marked: "#ffffff",
    boxes: [
        ("plain", "#ffffff", "#7d8590"),
        ("work", "#eef5ff", "#4a86d8"),
        ("judge", "#f5f0ff", "#8a63d2"),
        ("idle", "#fff8e6", "#c08a1e"),
        ("success", "#e8f7ec", "#1a7f37"),
        ("incomplete", "#fdf3d8", "#9a6700"),
        ("failure", "#ffeeec", "#cf222e"),
        ("aborted", "#eff1f3", "#7d8590"),
        ("sign", "#ffffff", "#8c959f"),
    ],
};

const DARK: Palette = Palette {
    canvas: "#0d1117",
    inner: ["#141a22", "#1b222c"],
    text: "#e6edf3",
    muted: "#9198a1",
    accent: "#e3a83c",
    frame: "#3a424c",
    edge: "#8b949e",
    faint: "#6b5f5f",
    marked: "#ff8c42",
    on_marked: "#0d1117",
    boxes: [
        ("plain", "#1a2029", "#6e7781"),
        ("work", "#12233d", "#4b8fe6"),
        ("judge", "#231a3d", "#a077ea"),
        ("idle", "#2b2312", "#c69026"),
        ("success", "#10271a", "#3fb950"),
        ("incomplete", "#2e2410", "#d29922"),
        ("failure", "#2d1618", "#f85149"),
        ("aborted", "#20262d", "#8b949e"),
        ("sign", "#0d1117", "#768390"),
    ],
};

/// Returns the style sheet of a picture.
pub(crate) fn sheet(theme: Theme) -> String {
    let colours = match theme {
        Theme::Light => rules(&LIGHT),
        Theme::Dark => rules(&DARK),
        Theme::Auto => format!("{}@media (prefers-color-scheme: dark) {{\n{}}}\n", rules(&LIGHT), rules(&DARK)),
    };
    format!("{SHAPES}{colours}")
}

/// Returns the style sheet for pictures in a page. Its rules apply inside such pictures only.
pub(crate) fn page() -> String {
    let (light, dark) = (rules(&LIGHT), rules(&DARK));
    format!(
        "svg.machine {{\n{SHAPES}{light}}}\n\
         @media (prefers-color-scheme: dark) {{\n:root:not([data-theme=light]) svg.machine {{\n{dark}}}\n}}\n\
         :root[data-theme=dark] svg.machine {{\n{dark}}}\n"
    )
}

/// Returns the class of the background at a nesting depth.
pub(crate) fn ground(depth: usize) -> &'static str {
    match depth {
        0 => "ground0",
        depth if depth % 2 == 1 => "ground1",
        _ => "ground2",
    }
}

const SHAPES: &str = "\
text { font-family: -apple-system, BlinkMacSystemFont, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif; font-size: 11px; }
.title { font-size: 18px; font-weight: 600; }
.summary { font-size: 12.5px; }
.name { font-size: 13px; font-weight: 600; }
.badge { font-size: 10px; font-weight: 700; text-anchor: middle; }
.mid { text-anchor: middle; }
.edge { fill: none; stroke-width: 1.3; }
.glyph { fill: none; stroke-width: 1.1; }
.frame { stroke-width: 1.2; }
.box { stroke-width: 1.3; }
.idle { stroke-dasharray: 5 3; }
.sign { stroke-dasharray: 3 2.5; stroke-width: 1.1; }
.rim { fill: none; stroke-width: 1.1; }
.split { fill: none; stroke-width: 1.2; stroke-dasharray: 6 5; }
.rest { opacity: .38; }
";

fn rules(colours: &Palette) -> String {
    let Palette { canvas, inner: [one, two], text, muted, accent, frame, edge, faint, marked, on_marked, boxes } =
        colours;
    let mut out = format!(
        ".ground0 {{ fill: {canvas}; }}\n.ground1 {{ fill: {one}; }}\n.ground2 {{ fill: {two}; }}\n\
         text {{ fill: {text}; }}\n.muted {{ fill: {muted}; }}\n.accent {{ fill: {accent}; }}\n\
         .frame, .split {{ stroke: {frame}; }}\n.edge {{ stroke: {edge}; }}\n.head, .dot {{ fill: {edge}; }}\n\
         .edge.faint {{ stroke: {faint}; }}\n.head.faint {{ fill: {faint}; }}\n\
         .glyph {{ stroke: {muted}; }}\n"
    );
    for (class, fill, stroke) in boxes {
        out.push_str(&format!(".{class} {{ fill: {fill}; stroke: {stroke}; }}\n.rim.{class} {{ fill: none; }}\n"));
    }
    out.push_str(&format!(
        ".edge.marked {{ stroke: {marked}; stroke-width: 2.4; }}\n.head.marked, .pill {{ fill: {marked}; }}\n\
         .box.marked, .frame.marked {{ stroke: {marked}; stroke-width: 2.6; }}\n.badge {{ fill: {on_marked}; }}\n"
    ));
    out
}

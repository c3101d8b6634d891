//! A picture on a page: as it is if it is short enough, otherwise in columns side by side, scaled down if it has to be.
//!
//! A column is a window onto the same drawing. It ends where no box and no text is cut, so an edge goes on at the top of the next column at the
//! same distance from the column's left side.

use super::{
    super::{
        Options, Picture, Rect,
        render::{self, Size, is_frame, n},
    },
    PAGE_HEIGHT_MAX, PAGE_WIDTH_MAX,
};
use interlock_chart::Chart;

/// The smallest scale at which text is still read without effort.
pub(super) const READABLE_SCALE_MIN: f64 = 0.75;

/// The most columns on a page.
const COLUMNS_MAX: usize = 4;

/// The room between two columns.
const GAP: f64 = 12.0;

/// The room around a box or a text that a column must not cut.
const CLEARANCE: f64 = 10.0;

/// How far a cut may be moved so that it does not go through a state around states.
const FRAME_COST: f64 = 150.0;

/// Distance between two places that are looked at for a cut.
const STEP: usize = 2;

/// A picture's columns and its scale.
pub(super) struct Sheet {
    /// The start of each column, and the end of the last one.
    cuts: Vec<f64>,
    size: Size,
    /// At most 1.
    pub(super) scale: f64,
}

/// The number of columns that shows the picture biggest.
pub(super) fn fitted(picture: &Picture) -> Sheet {
    let mut best = sheet(picture, 1);
    for columns in 2..=COLUMNS_MAX {
        let other = sheet(picture, columns);
        if other.scale > best.scale {
            best = other;
        }
    }
    best
}

fn sheet(picture: &Picture, columns: usize) -> Sheet {
    let cuts = cuts(picture, columns);
    let tallest = cuts.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    let count = cuts.len() as f64 - 1.0;
    let (left, right) = sides(picture, count as usize);
    let width = ((right - left) * count + GAP * (count - 1.0)).ceil();
    let height = (top(picture) + tallest).ceil();
    let scale = (PAGE_WIDTH_MAX / width).min(PAGE_HEIGHT_MAX / height).min(1.0);
    Sheet { cuts, size: Size { drawn: (width, height), shown: (width * scale, height * scale) }, scale }
}

/// The left and right side of a column. Columns side by side need no margins.
fn sides(picture: &Picture, columns: usize) -> (f64, f64) {
    if columns <= 1 {
        return (0.0, picture.width);
    }
    let boxes = picture.boxes.iter().map(|state| state.rect).chain(picture.marks.iter().map(|mark| mark.rect));
    let labels = picture.edges.iter().filter_map(|edge| edge.label.as_ref()).map(|label| label.rect);
    let rects = boxes.chain(labels).flat_map(|rect| [rect.x, rect.x + rect.w]);
    let all = rects.chain(picture.edges.iter().flat_map(|edge| edge.points.iter().map(|point| point.0)));
    let (least, most) = all.fold((picture.width, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)));
    (least - GAP, most + GAP)
}

/// Returns the top of the drawing, below the title.
fn top(picture: &Picture) -> f64 {
    let rects = picture.boxes.iter().map(|state| state.rect).chain(picture.marks.iter().map(|mark| mark.rect));
    rects.map(|rect| rect.y).fold(picture.height, f64::min) - CLEARANCE
}

/// The beginnings and ends of columns of about the same height.
fn cuts(picture: &Picture, columns: usize) -> Vec<f64> {
    let (top, bottom) = (top(picture), picture.height);
    let mut cuts = vec![top];
    for column in 1..columns {
        let wanted = top + (bottom - top) * column as f64 / columns as f64;
        let after = cuts.last().copied().unwrap_or(top);
        cuts.extend(cut(picture, wanted, after));
    }
    cuts.push(bottom);
    cuts
}

/// The best place for a cut near a height; nothing if there is none below the cut before.
fn cut(picture: &Picture, wanted: f64, after: f64) -> Option<f64> {
    let places = (after as usize..picture.height as usize).step_by(STEP).map(|at| at as f64);
    let free = places.filter(|&at| at > after && !is_in_the_way(picture, at));
    let cost = |at: f64| (at - wanted).abs() + if cuts_frame(picture, at) { FRAME_COST } else { 0.0 };
    free.min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
}

fn is_in_the_way(picture: &Picture, at: f64) -> bool {
    let boxes = picture.boxes.iter().map(|state| if is_frame(state.kind) { state.header } else { state.rect });
    let labels = picture.edges.iter().filter_map(|edge| edge.label.as_ref()).map(|label| label.rect);
    let marks = picture.marks.iter().map(|mark| mark.rect);
    boxes.chain(labels).chain(marks).any(|rect| spans(rect, at))
}

fn cuts_frame(picture: &Picture, at: f64) -> bool {
    let frames = picture.boxes.iter().filter(|state| is_frame(state.kind)).map(|state| state.rect);
    frames.into_iter().any(|rect| at > rect.y && at < rect.y + rect.h)
}

fn spans(rect: Rect, at: f64) -> bool {
    at > rect.y - CLEARANCE && at < rect.y + rect.h + CLEARANCE
}

/// Writes the picture.
pub(super) fn svg(chart: &Chart, picture: &Picture, options: &Options, sheet: &Sheet) -> String {
    let head = render::head(chart, picture, options, sheet.size);
    let body = render::body(chart, picture, options);
    if sheet.cuts.len() <= 2 {
        return format!("{head}{body}</svg>\n");
    }
    let (top, (left, right)) = (n(top(picture)), sides(picture, sheet.cuts.len() - 1));
    let columns = sheet.cuts.windows(2).enumerate().map(|(at, pair)| {
        let (x, w, h) = (n(at as f64 * (right - left + GAP)), n(right - left), n(pair[1] - pair[0]));
        let window = format!(
            "x=\"{x}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" viewBox=\"{} {} {w} {h}\"",
            n(left),
            n(pair[0])
        );
        format!("<svg {window}><use href=\"#interlock-way\"/></svg>\n")
    });
    let columns: String = columns.collect();
    format!("{head}<defs><g id=\"interlock-way\">\n{body}</g></defs>\n{columns}</svg>\n")
}

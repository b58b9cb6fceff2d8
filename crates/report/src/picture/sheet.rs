//! The sheet that a picture is drawn on, from top to bottom.

use super::mark::Glyph;
use super::svg::Node;
use super::text::{LINE, SIZE, SMALL, fit, lines, width};
use super::theme::CSS;
use super::values::Values;

/// Units of a picture's width. It is as narrow as a telephone, where its letters can still be read, and grows with the page.
pub(crate) const WIDTH: f64 = 440.0;
/// Free at each side.
pub(crate) const MARGIN: f64 = 14.0;
/// Width of a picture in pixels where the page leaves the choice to it.
const SHOWN: f64 = 660.0;

const TITLE: f64 = 16.0;

/// A picture, its title, one sentence about what it shows, and its values.
pub(crate) struct Drawn {
    pub(crate) title: String,
    pub(crate) says: String,
    pub(crate) svg: String,
    pub(crate) values: Values,
    /// What is drawn from step to step, as CSV, where it is.
    pub(crate) steps: Option<String>,
}

/// What has been drawn so far, and how far down.
pub(crate) struct Sheet {
    title: String,
    y: f64,
    nodes: Vec<Node>,
}

impl Sheet {
    /// An empty sheet under a title and what takes sureness away from all of it.
    pub(crate) fn new(title: &str, cautions: &[String]) -> Self {
        let mut sheet = Self { title: title.to_owned(), y: MARGIN, nodes: Vec::new() };
        sheet.written(("title", title), TITLE, 3);
        cautions.iter().for_each(|caution| sheet.written(("caution", caution), SIZE, 4));
        sheet.gap(4.0);
        sheet
    }

    /// How far down it is drawn.
    pub(crate) fn y(&self) -> f64 {
        self.y
    }

    pub(crate) fn gap(&mut self, height: f64) {
        self.y += height;
    }

    /// Draws at the present height, and goes down by so much.
    pub(crate) fn draw(&mut self, height: f64, nodes: impl IntoIterator<Item = Node>) {
        self.nodes.extend(nodes);
        self.y += height;
    }

    /// A text in as many lines as it needs, so many at most.
    pub(crate) fn words(&mut self, class: &str, text: &str, most: usize) {
        self.written((class, text), SIZE, most);
    }

    /// The same in small letters.
    pub(crate) fn small(&mut self, text: &str, most: usize) {
        self.written(("small", text), SMALL, most);
    }

    fn written(&mut self, (class, text): (&str, &str), size: f64, most: usize) {
        let shown = lines(text, WIDTH - 2.0 * MARGIN, size * weight(class), most);
        let step = size + LINE - SIZE;
        let line = |(at, line): (usize, &String)| letters(class, [MARGIN, self.y + size + at as f64 * step], line);
        let drawn: Vec<Node> = shown.iter().enumerate().map(line).collect();
        let is_whole = shown.join(" ") == text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.y += step * drawn.len() as f64;
        self.nodes.extend(if is_whole { drawn } else { vec![Node::group("said", text).hold(drawn)] });
    }

    /// Whether two texts have room side by side in one line, whole.
    pub(crate) fn fits((class, text): (&str, &str), (right_class, right_text): (&str, &str)) -> bool {
        let taken = width(text, SIZE * weight(class)) + width(right_text, SIZE * weight(right_class));
        taken + SIZE <= WIDTH - 2.0 * MARGIN
    }

    /// A line with a text from the left and another to the right, which is never the one that is shortened.
    pub(crate) fn line(&mut self, left: (&str, &str), right: (&str, &str), indent: f64) {
        let ((class, text), (right_class, right_text)) = (left, right);
        let room = WIDTH - 2.0 * MARGIN - indent;
        let taken = width(right_text, SIZE * weight(right_class));
        let shown = fit(text, room - taken - SIZE, SIZE * weight(class));
        let base = self.y + SIZE;
        let left = letters(class, [MARGIN + indent, base], &shown);
        let left = if shown == text || shown.is_empty() { left } else { Node::group("said", text).hold([left]) };
        let right = letters(&format!("{right_class} end"), [WIDTH - MARGIN, base], right_text);
        self.draw(
            LINE,
            [(shown.as_str(), left), (right_text, right)]
                .into_iter()
                .filter(|(text, _)| !text.is_empty())
                .map(|(_, node)| node),
        );
    }

    /// What the marks mean.
    pub(crate) fn key(&mut self, entries: &[(Glyph, &str)]) {
        const GLYPH: f64 = 12.0;
        let mut x = MARGIN;
        for (glyph, words) in entries {
            let room = GLYPH + 6.0 + width(words, SMALL);
            if x > MARGIN && x + room > WIDTH - MARGIN {
                (x, self.y) = (MARGIN, self.y + LINE);
            }
            let base = self.y + SMALL;
            let text = letters("small", [x + GLYPH, base], words);
            self.nodes.extend([glyph.draw([x + GLYPH / 2.0 - 1.0, base - 4.0]), text]);
            x += room + 8.0;
        }
        self.y += LINE;
    }

    /// The picture; `says` is one sentence about what it shows, and `made` from what, on which machine and when.
    pub(crate) fn finish(mut self, says: &str, made: &str) -> Drawn {
        self.gap(4.0);
        self.small(made, 8);
        let height = (self.y + MARGIN).ceil();
        let style = Node::new("style").text(CSS);
        let paper = Node::area("paper", [0.0, 0.0], [WIDTH, height]);
        let root = Node::new("svg").with("xmlns", "http://www.w3.org/2000/svg").with("class", "bourdon");
        let root = root.with("role", "img").with("viewBox", format!("0 0 {WIDTH} {height}"));
        let root = root.at([("width", SHOWN), ("height", height * SHOWN / WIDTH)]);
        let told = [Node::new("title").text(&self.title), Node::new("desc").text(says), style, paper];
        let values = Values::of(&self.nodes);
        Drawn {
            title: self.title,
            says: says.to_owned(),
            svg: root.hold(told).hold(self.nodes).to_xml(),
            values,
            steps: None,
        }
    }
}

/// How much wider bold letters are.
fn weight(class: &str) -> f64 {
    if matches!(class, "title" | "strong" | "caution") { 1.07 } else { 1.0 }
}

/// A text at a place, however long it is.
pub(crate) fn letters(class: &str, [x, y]: [f64; 2], text: &str) -> Node {
    Node::new("text").with("class", class).at([("x", x), ("y", y)]).text(text)
}

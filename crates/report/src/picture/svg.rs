//! Elements of a picture, and the one place where they become text.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};

use crate::plain::{isolated, plain};

/// The attribute of a mark that names those of its figures that are lower bounds.
pub(crate) const AT_LEAST: &str = "data-at-least";

/// An element with its attributes, and what it holds: a text, or other elements.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: String,
    children: Vec<Node>,
}

impl Node {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), text: String::new(), children: Vec::new() }
    }

    /// A group of a class that says on hovering what it is.
    pub(crate) fn group(class: &str, said: &str) -> Self {
        Node::new("g").with("class", class).hold([Node::new("title").text(said)])
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// Places or lengths, to a tenth of a unit.
    pub(crate) fn at<const N: usize>(self, places: [(&'static str, f64); N]) -> Self {
        places.into_iter().fold(self, |node, (name, place)| node.with(name, tenth(place)))
    }

    /// A figure as it is, to be read back; nothing where there is none.
    pub(crate) fn figure(self, name: &'static str, value: Option<f64>) -> Self {
        match value {
            Some(value) => self.with(name, value.to_string()),
            None => self,
        }
    }

    /// Says which of its figures are lower bounds, by their attributes without `data-`.
    pub(crate) fn at_least(self, figures: &[&str]) -> Self {
        if figures.is_empty() { self } else { self.with(AT_LEAST, figures.join(" ")) }
    }

    pub(crate) fn text(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }

    pub(crate) fn hold(mut self, children: impl IntoIterator<Item = Node>) -> Self {
        self.children.extend(children);
        self
    }

    /// What it holds.
    pub(crate) fn into_children(self) -> Vec<Node> {
        self.children
    }

    /// A line from one place to another.
    pub(crate) fn line(class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) -> Self {
        Node::new("line").with("class", class).at([("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)])
    }

    /// The area between two places.
    pub(crate) fn area(class: &str, [left, top]: [f64; 2], [right, bottom]: [f64; 2]) -> Self {
        let (width, height) = ((right - left).max(0.0), (bottom - top).max(0.0));
        Node::new("rect").with("class", class).at([("x", left), ("y", top), ("width", width), ("height", height)])
    }

    /// Straight lines through places.
    pub(crate) fn path(class: &str, places: &[[f64; 2]]) -> Self {
        let step = |(at, [x, y]): (usize, &[f64; 2])| {
            format!("{}{} {}", if at == 0 { 'M' } else { 'L' }, tenth(*x), tenth(*y))
        };
        let steps: Vec<String> = places.iter().enumerate().map(step).collect();
        Node::new("path").with("class", class).with("d", steps.join(""))
    }

    /// Shows itself and all that it holds.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Node)) {
        visit(self);
        self.children.iter().for_each(|child| child.each(visit));
    }

    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.attributes.iter().map(|(name, value)| (*name, value.as_str()))
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Whether it says in words what it is.
    pub(crate) fn is_said(&self) -> bool {
        self.children.iter().any(|child| child.name == "title")
    }

    /// The element as XML, an element a line.
    pub(crate) fn to_xml(&self) -> String {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 1);
        // Nothing fails that is written to memory.
        let _ = self.write(&mut writer);
        let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
        text.push('\n');
        text
    }

    fn write(&self, to: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let mut start = BytesStart::new(self.name);
        for (name, value) in &self.attributes {
            start.push_attribute((*name, shown(value).as_str()));
        }
        if self.text.is_empty() && self.children.is_empty() {
            return to.write_event(Event::Empty(start));
        }
        to.write_event(Event::Start(start))?;
        if !self.text.is_empty() {
            to.write_event(Event::Text(BytesText::new(&isolated(&shown(&self.text)))))?;
        }
        self.children.iter().try_for_each(|child| child.write(to))?;
        to.write_event(Event::End(BytesEnd::new(self.name)))
    }
}

/// A text without what acts instead of being seen, and without the two characters that no XML may hold.
fn shown(text: &str) -> String {
    plain(text).replace(['\n', '\t'], " ").replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// To a tenth, without a zero behind the point or a minus before nothing.
fn tenth(place: f64) -> String {
    ((place * 10.0).round() / 10.0 + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_text_in_elements_and_attributes() {
        let hostile = "</text><script>alert(\"1\" & '2')</script>\u{1b}\u{202e}\n\u{ffff}";
        let xml = Node::new("text").with("data-of", hostile).text(hostile).to_xml();
        assert!(!xml.contains("<script") && !xml.contains("</text><"), "{xml}");
        let escaped =
            "&lt;/text&gt;&lt;script&gt;alert(&quot;1&quot; &amp; &apos;2&apos;)&lt;/script&gt;␛\u{fffd} \u{fffd}";
        assert_eq!(xml, format!("<text data-of=\"{escaped}\">{escaped}</text>\n"));
    }

    #[test]
    fn places_are_short_and_figures_are_whole() {
        let xml = Node::line("a", [0.04, -0.04], [1.25, 10.0]).figure("data-low", Some(0.1 + 0.2)).to_xml();
        let places = "x1=\"0\" y1=\"0\" x2=\"1.3\" y2=\"10\"";
        assert_eq!(xml, format!("<line class=\"a\" {places} data-low=\"0.30000000000000004\"/>\n"));
        assert_eq!(Node::new("g").hold([Node::new("a"), Node::new("b")]).to_xml(), "<g>\n <a/>\n <b/>\n</g>\n");
    }
}

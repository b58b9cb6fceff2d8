//! Tables of a TOML file, read by hand so that every mistake points at its place.

use model::{format_duration, parse_duration};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::diagnostic::{Fault, Read, Span};

/// Reads a file's syntax.
pub(super) fn parse(text: &str) -> Read<Spanned<DeTable<'_>>> {
    DeTable::parse(text).map_err(|error| {
        let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
        let cure = if message.contains("string values must be quoted") {
            "put text and durations in quotes: `window = \"10s\"`"
        } else {
            "the syntax is that of https://toml.io"
        };
        Fault::new(error.span().unwrap_or(0..0), message).help(cure)
    })
}

/// A table and what it is called in messages.
#[derive(Debug, Clone)]
pub(super) struct Section<'a> {
    title: String,
    span: Span,
    items: Vec<Item<'a>>,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(super) fn file(document: &'a Spanned<DeTable<'a>>, text: &str) -> Self {
        let first_line = text.lines().next().map_or(0, str::len);
        Section::new("the file".to_owned(), 0..first_line, document.get_ref())
    }

    fn new(title: String, span: Span, table: &'a DeTable<'a>) -> Self {
        let mut items: Vec<Item> = table.iter().map(|(key, value)| Item { key, value }).collect();
        items.sort_by_key(|item| item.key.span().start);
        Section { title, span, items }
    }

    /// Its place: the header, or the braces.
    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Its keys in the order of the file.
    pub(super) fn items(&self) -> &[Item<'a>] {
        &self.items
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<Item<'a>> {
        self.items.iter().find(|item| item.name() == key).copied()
    }

    /// A key's value, read, if the key is there.
    pub(super) fn read<T>(&self, key: &str, read: impl FnOnce(Item<'a>) -> Read<T>) -> Read<Option<T>> {
        self.get(key).map(read).transpose()
    }

    /// The value of a key that must be there; the cure says what to write.
    pub(super) fn require(&self, key: &str, cure: &str) -> Read<Item<'a>> {
        let missing = || Fault::new(self.span(), format!("{} has no `{key}`", self.title)).help(cure);
        self.get(key).ok_or_else(missing)
    }

    /// Refuses other keys.
    pub(super) fn only(&self, keys: &[&str]) -> Read<()> {
        match self.items.iter().find(|item| !keys.contains(&item.name())) {
            Some(item) => Err(self.unknown(item, keys)),
            None => Ok(()),
        }
    }

    /// The fault of a key that does not belong here.
    pub(super) fn unknown<S: AsRef<str>>(&self, item: &Item, keys: &[S]) -> Fault {
        Fault::new(item.key_span(), format!("unknown key `{}` in {}", item.name(), self.title))
            .nearest(item.name(), keys)
            .help(format!("{} takes {}", self.title, listed(keys)))
    }
}

/// Words in a sentence.
pub(super) fn listed<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    words.join(", ")
}

/// A key with its value, or one value of its list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    key: &'a Spanned<DeString<'a>>,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Item<'a> {
    /// The key.
    pub(super) fn name(&self) -> &'a str {
        self.key.get_ref()
    }

    /// Place of the key.
    pub(super) fn key_span(&self) -> Span {
        self.key.span()
    }

    /// Place of the value.
    pub(super) fn span(&self) -> Span {
        self.value.span()
    }

    /// A fault at the value.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.span(), message)
    }

    fn mistyped(&self, wanted: &str, example: &str) -> Fault {
        let found = match self.value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.fault(format!("`{}` must be {wanted}, not {found}", self.name()))
            .help(format!("write for instance `{} = {example}`", self.name()))
    }

    /// Text that is not empty.
    pub(super) fn text(&self) -> Read<&'a str> {
        let text = self.any_text()?;
        if text.trim().is_empty() {
            return Err(self
                .fault(format!("`{}` is empty", self.name()))
                .help("write something, or leave the key out"));
        }
        Ok(text)
    }

    /// Text, perhaps empty. Words, paths and variables end at a NUL for the system, so there is none in it.
    pub(super) fn any_text(&self) -> Read<&'a str> {
        let text = self.content()?;
        if text.contains('\0') {
            let fault = self.fault(format!("`{}` has a NUL character", self.name()));
            return Err(fault.help("leave it out: no command, path or variable can hold one"));
        }
        Ok(text)
    }

    /// Text of any characters, perhaps empty.
    pub(super) fn content(&self) -> Read<&'a str> {
        self.value.get_ref().as_str().ok_or_else(|| self.mistyped("text", "\"…\""))
    }

    /// One of a few words.
    pub(super) fn word(&self, words: &[&str]) -> Read<&'a str> {
        let example = format!("\"{}\"", words.first().copied().unwrap_or_default());
        let text = self.value.get_ref().as_str().ok_or_else(|| self.mistyped("text", &example))?;
        if words.contains(&text) {
            return Ok(text);
        }
        let fault = self.fault(format!("`{text}` is not a `{}`", self.name())).nearest(text, words);
        Err(fault.help(format!("`{}` is one of {}", self.name(), listed(words))))
    }

    /// A whole number of at least `least`.
    pub(super) fn whole(&self, least: u64, example: &str) -> Read<u64> {
        let integer = self.value.get_ref().as_integer().ok_or_else(|| self.mistyped("a whole number", example))?;
        let read =
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().and_then(|value| u64::try_from(value).ok());
        let too_small = || {
            let message = format!("`{}` must be a whole number from {least} up, not {integer}", self.name());
            self.fault(message).help(format!("write for instance `{} = {example}`", self.name()))
        };
        read.filter(|value| *value >= least).ok_or_else(too_small)
    }

    /// The same, of 32 bits.
    pub(super) fn small(&self, least: u32, example: &str) -> Read<u32> {
        let value = self.whole(least.into(), example)?;
        let most = u32::MAX;
        u32::try_from(value).map_err(|_| {
            self.fault(format!("`{}` must be at most {most}, not {value}", self.name()))
                .help(format!("write for instance `{} = {example}`", self.name()))
        })
    }

    /// A finite number.
    pub(super) fn number(&self) -> Read<f64> {
        let read: Option<f64> = match self.value.get_ref() {
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|i| i as f64),
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => return Err(self.mistyped("a number", "1000")),
        };
        read.filter(|value| value.is_finite()).ok_or_else(|| self.mistyped("a finite number", "1000"))
    }

    /// True or false.
    pub(super) fn flag(&self) -> Read<bool> {
        self.value.get_ref().as_bool().ok_or_else(|| self.mistyped("true or false", "true"))
    }

    /// A duration with its unit, in nanoseconds.
    pub(super) fn duration(&self) -> Read<u64> {
        let bare = |number: &str| {
            let cure = format!("write `\"{number}ms\"` or `\"{number}s\"`");
            self.fault(format!("`{}` has no unit", self.name())).help(cure)
        };
        match self.value.get_ref() {
            DeValue::Integer(integer) => Err(bare(integer.as_str())),
            DeValue::Float(float) => Err(bare(float.as_str())),
            DeValue::String(text) => {
                parse_duration(text).map_err(|error| Fault::sentence(self.span(), &error.to_string()))
            }
            _ => Err(self.mistyped("a duration", "\"10ms\"")),
        }
    }

    /// A duration above zero.
    pub(super) fn positive_duration(&self) -> Read<u64> {
        let ns = self.duration()?;
        let message = || format!("`{}` must be longer than {}", self.name(), format_duration(0));
        (ns > 0).then_some(ns).ok_or_else(|| self.fault(message()).help("write for instance `\"1s\"`"))
    }

    /// A share such as `"5%"`, above 0 and below 1.
    pub(super) fn share(&self) -> Read<f64> {
        let text = self.value.get_ref().as_str().ok_or_else(|| self.mistyped("a percentage", "\"5%\""))?;
        let percent: Option<f64> = text.trim().strip_suffix('%').and_then(|number| number.trim().parse().ok());
        let share = percent.map(|percent| percent / 100.0).filter(|share| *share > 0.0 && *share < 1.0);
        let message = || format!("`{}` must be above 0% and below 100%, not `{text}`", self.name());
        share.ok_or_else(|| self.fault(message()).help(format!("write for instance `{} = \"5%\"`", self.name())))
    }

    /// A share from none to all: `"5%"`.
    pub(super) fn any_share(&self) -> Read<f64> {
        let text = self.value.get_ref().as_str().ok_or_else(|| self.mistyped("a percentage", "\"5%\""))?;
        let percent: Option<f64> = text.trim().strip_suffix('%').and_then(|number| number.trim().parse().ok());
        let share = percent.map(|percent| percent / 100.0).filter(|share| (0.0..=1.0).contains(share));
        let message = || format!("`{}` must be from 0% to 100%, not `{text}`", self.name());
        share.ok_or_else(|| self.fault(message()).help(format!("write for instance `{} = \"5%\"`", self.name())))
    }

    /// The values of a list, or the one value that stands for a list of one; never none.
    pub(super) fn values(&self) -> Read<Vec<Item<'a>>> {
        let key = self.key;
        match self.value.get_ref().as_array() {
            None => Ok(vec![*self]),
            Some(array) if array.is_empty() => Err(self
                .fault(format!("`{}` has no value", self.name()))
                .help("name at least one, or leave the key out")),
            Some(array) => Ok(array.iter().map(|value| Item { key, value }).collect()),
        }
    }

    /// A table.
    pub(super) fn section(&self, title: &str) -> Read<Section<'a>> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.mistyped("a table", "{ … }"))?;
        Ok(Section::new(title.to_owned(), self.span(), table))
    }

    /// The tables of `[[key]]`.
    pub(super) fn sections(&self) -> Read<Vec<Section<'a>>> {
        let (key, title) = (self.key, format!("[[{}]]", self.name()));
        let array = self.value.get_ref().as_array().ok_or_else(|| {
            self.fault(format!("`{}` must be an array of tables", self.name())).help(format!("write `{title}`"))
        })?;
        array.iter().map(|value| Item { key, value }.section(&title)).collect()
    }

    /// Whether the value is a list.
    pub(super) fn is_list(&self) -> bool {
        self.value.get_ref().is_array()
    }

    /// Whether the value is text.
    pub(super) fn is_text(&self) -> bool {
        self.value.get_ref().is_str()
    }

    /// Whether the value is a table.
    pub(super) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Whether the value is a whole number.
    pub(super) fn is_whole(&self) -> bool {
        self.value.get_ref().is_integer()
    }

    /// The place of some bytes of a text value within the file; the whole value where escapes shift them.
    pub(super) fn span_within(&self, file: &str, bytes: Span) -> Span {
        let (span, decoded) = (self.span(), self.value.get_ref().as_str().unwrap_or_default());
        let raw = file.get(span.clone()).unwrap_or_default();
        let multiline = raw.starts_with("\"\"\"") || raw.starts_with("'''");
        let newline = |rest: &str| ["\r\n", "\n"].iter().find(|end| rest.starts_with(**end)).map_or(0, |end| end.len());
        let opening = if multiline { 3 + raw.get(3..).map_or(0, newline) } else { 1 };
        if raw.get(opening..).is_some_and(|rest| rest.starts_with(decoded)) {
            span.start + opening + bytes.start..span.start + opening + bytes.end
        } else {
            span
        }
    }
}

//! What is drawn in a picture, read back.

use std::collections::BTreeMap;

use model::Measured;
use quick_xml::Reader;
use quick_xml::events::Event;

/// The attributes of every element of a class. What is not XML panics.
pub(crate) fn elements(svg: &str, class: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = Reader::from_str(svg);
    let mut found = Vec::new();
    loop {
        let (Event::Start(element) | Event::Empty(element)) = (match reader.read_event().unwrap() {
            Event::Eof => return found,
            event => event,
        }) else {
            continue;
        };
        let attributes: BTreeMap<String, String> = element
            .attributes()
            .map(|attribute| {
                let attribute = attribute.unwrap();
                let key = attribute.key.as_ref().to_owned();
                (key, quick_xml::escape::unescape(&attribute.value).unwrap().into_owned())
            })
            .collect();
        if attributes.get("class").is_some_and(|known| known.split(' ').any(|one| one == class)) {
            found.push(attributes);
        }
    }
}

/// What is drawn of each value: whose, and its figures.
pub(crate) fn drawn(svg: &str) -> Vec<(String, Measured)> {
    let value = |attributes: BTreeMap<String, String>| {
        let figure = |name: &str| attributes.get(name).map(|text| text.parse().unwrap());
        let unit = serde_json::from_value(attributes["data-unit"].clone().into()).unwrap();
        let [estimate, low, high] = ["data-estimate", "data-low", "data-high"].map(figure);
        (attributes["data-of"].clone(), Measured { estimate, low, high, unit })
    };
    elements(svg, "value").into_iter().map(value).collect()
}

//! A JSON document whose keys keep their order, into which sentences can be put.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Where there are words already, they are those of a record.
const TEXT: &str = "text";

/// A document, or a part of one.
pub(crate) enum Json {
    Object(Vec<(String, Json)>),
    Array(Vec<Json>),
    Plain(Value),
}

impl Json {
    /// What an object has under a key; none where that is left out, or this is not an object.
    pub(crate) fn at(&mut self, key: &str) -> Option<&mut Json> {
        let Json::Object(fields) = self else { return None };
        fields.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// What is in an array; nothing where this is none.
    pub(crate) fn items(&mut self) -> impl Iterator<Item = &mut Json> {
        let items = if let Json::Array(items) = self { items.as_mut_slice() } else { &mut [] };
        items.iter_mut()
    }

    /// Gives an object words as its last field, unless it has some; what is a text is in words as it is.
    pub(crate) fn put(&mut self, words: String) {
        if let Json::Object(fields) = self
            && fields.iter().all(|(name, _)| name != TEXT)
        {
            fields.push((TEXT.to_owned(), Json::Plain(words.into())));
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Object(fields) => to.collect_map(fields.iter().map(|(key, value)| (key, value))),
            Json::Array(values) => to.collect_seq(values),
            Json::Plain(value) => value.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Json;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Plain(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = from.next_element()? {
            values.push(value);
        }
        Ok(Json::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = from.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

use serde_json::Value;

/// A document of `bourdon load --format json`.
#[derive(Debug)]
pub(crate) struct Document(Value);

impl Document {
    /// Reads a document and checks its books.
    pub(crate) fn of_balanced(text: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("stdout is not a JSON document: {error}"))?;
        let document = Self(value);
        document.check_books()?;
        Ok(document)
    }

    /// The value at a path such as `accounting/ok`; null where there is none.
    pub(crate) fn get(&self, path: &str) -> &Value {
        self.0.pointer(&format!("/{path}")).unwrap_or(&Value::Null)
    }

    /// A count; kinds that did not occur are missing, which is zero.
    pub(crate) fn count(&self, path: &str) -> u64 {
        match self.get(path) {
            Value::Null => 0,
            other => other.as_u64().unwrap_or_else(|| panic!("{path} is not a count: {other}")),
        }
    }

    pub(crate) fn number(&self, path: &str) -> f64 {
        self.get(path).as_f64().unwrap_or_else(|| panic!("{path} is not a number: {self:?}"))
    }

    /// A latency in seconds, from `response/p99` and the like.
    pub(crate) fn latency_s(&self, path: &str) -> f64 {
        self.number(&format!("latency_us/{path}")) / 1e6
    }

    pub(crate) fn verdict(&self) -> &str {
        self.get("validity/verdict").as_str().unwrap()
    }

    /// The codes of the reasons, the first of which says what the verdict rests on.
    pub(crate) fn codes(&self) -> Vec<&str> {
        let reasons = self.get("validity/reasons").as_array().unwrap();
        reasons.iter().map(|reason| reason["code"].as_str().unwrap()).collect()
    }

    /// All counts under a path together.
    pub(crate) fn sum(&self, path: &str) -> u64 {
        let Value::Object(kinds) = self.get(path) else { panic!("{path} is not a table of kinds: {self:?}") };
        kinds.values().map(|count| count.as_u64().unwrap()).sum()
    }

    /// Every request that was due stands once on each side, and what failed is told twice alike.
    fn check_books(&self) -> Result<(), String> {
        let books = |name: &str| self.count(&format!("accounting/{name}"));
        let (not_sent, failed) = (self.sum("accounting/not_sent"), self.sum("accounting/failed"));
        let listed: u64 =
            self.get("failures").as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap()).sum();
        let in_flight = self.number("residence/in_flight_s");
        let of_requests = self.number("residence/requests_s");
        for (what, left, right) in [
            ("scheduled = sent + not sent", books("scheduled"), books("sent") + not_sent),
            ("completed = replies", books("completed"), books("ok") + books("bad_status") + books("bad_body")),
            ("sent = outcomes", books("sent"), books("completed") + failed + books("in_flight_at_end")),
            ("failures = their list", listed, not_sent + failed),
        ] {
            if left != right {
                return Err(format!("{what} does not hold: {left} ≠ {right}"));
            }
        }
        let allowed = (0.01 * in_flight.max(of_requests)).max(0.001);
        if (in_flight - of_requests).abs() > allowed {
            return Err(format!("in flight {in_flight} s ≠ time of the requests {of_requests} s"));
        }
        Ok(())
    }
}
